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
from lakehold.directory.request_context import RequestContext
from lakehold.directory.standing import MANAGE


def create(ctx: RequestContext, name: str, *, uid: str | None = None) -> str:
    """Make one. It can do nothing until it is given roles and a token."""
    ctx.need(MANAGE, ctx.caller.tenant)
    made = ctx.create(MEMBER, name, uid=uid, edges={"tenant": ctx.caller.tenant})
    accounts.add(ctx, made, service=True)
    ctx.note("make service account", made)
    return made


def every(ctx: RequestContext) -> list[Member]:
    """All of them, by name: for those who keep members."""
    ctx.need(MANAGE, ctx.caller.tenant)
    c = account_table.c
    query = sa.select(c.member_id).where(c.tenant_id == ctx.session.tenant, c.service.is_(True))
    numbers = ctx.session.transaction.connection.execute(query).scalars().all()
    uids = [uid for number in numbers if (uid := ctx.view.uids.get(number)) is not None]
    return sorted((members.one(ctx, uid) for uid in uids), key=lambda member: (member.name, member.uid))
