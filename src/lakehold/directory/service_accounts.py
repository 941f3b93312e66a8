"""Service accounts: members without sign-in, for schedules and integrations that must outlive a person.

An admin keeps them and makes their tokens. They hold roles like any member. Nobody ever signs in to one, and one never
becomes a person, nor a person one: what it owns and does must not change hands unseen.
"""

from __future__ import annotations

import sqlalchemy as sa

from lakehold.access.model.policy import MEMBER
from lakehold.directory import accounts, members
from lakehold.directory.accounts import account_table
from lakehold.directory.members import Member
from lakehold.directory.standing import MANAGE
from lakehold.directory.work import Work


def create(work: Work, name: str, *, uid: str | None = None) -> str:
    """Make one. It can do nothing until it is given roles and a token."""
    work.need(MANAGE, work.caller.tenant)
    made = work.create(MEMBER, name, uid=uid, edges={"tenant": work.caller.tenant})
    accounts.add(work, made, service=True)
    work.note("make service account", made)
    return made


def every(work: Work) -> list[Member]:
    """All of them, by name: for those who keep members."""
    work.need(MANAGE, work.caller.tenant)
    c = account_table.c
    query = sa.select(c.member_id).where(c.tenant_id == work.session.tenant, c.service.is_(True))
    numbers = work.session.transaction.connection.execute(query).scalars().all()
    uids = [uid for number in numbers if (uid := work.view.uids.get(number)) is not None]
    return sorted((members.one(work, uid) for uid in uids), key=lambda member: (member.name, member.uid))
