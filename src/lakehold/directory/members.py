"""Members: who belongs to the tenant. Everybody in it may know of them; their e-mail is for those who keep members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

# past the access filter: since when a member is there, of one that was asked for before
from lakehold.access.facts.tables import resource
from lakehold.access.facts.view import View
from lakehold.access.model.policy import MEMBER, MEMBER_OF
from lakehold.directory import accounts, links, roles
from lakehold.directory.emails import valid_email
from lakehold.directory.standing import MANAGE, need_over, need_whole
from lakehold.directory.work import Work
from lakehold.kit.clock import Moment
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import shown


@dataclass(frozen=True, slots=True)
class Member:
    """One member, as the caller may see them."""

    uid: str
    name: str
    since: Moment
    email: str | None
    """None if there is none, or if it is not for the caller."""
    service: bool
    roles: tuple[str, ...]
    """The tenant and security roles that they hold themself."""
    groups: tuple[str, ...]
    """The ids of their groups."""


@dataclass(frozen=True, slots=True)
class Members:
    """Some members, and where the next ones begin; None after the last."""

    items: list[Member]
    after: str | None


def page(work: Work, *, search: str = "", sort: str = "name", after: str | None = None, limit: int = 50) -> Members:
    """One page of the members."""
    found = work.session.list(work.asker, "see", MEMBER, search=search, sort=sort, after=after, limit=limit)
    return Members(_told(work, [(item.uid, item.name, item.since) for item in found.items]), found.after)


def one(work: Work, member: str) -> Member:
    """One member's profile."""
    work.need("see", member)
    (told,) = numbered(work, [work.view.member(member)])
    return told


def numbered(work: Work, numbers: Sequence[int]) -> list[Member]:
    """The members of these numbers, in their order. Whether the caller may know of them has been asked before."""
    since = _since(work, numbers)
    return _told(work, [(work.view.uid(one), work.view.names.get(one) or "", since[one]) for one in numbers])


def add(work: Work, name: str, *, email: str = "", uid: str | None = None) -> str:
    """Make a member without an invite. With an e-mail address they can sign in as soon as they have a link."""
    made = work.create(MEMBER, name, uid=uid, edges={"tenant": work.caller.tenant})
    if email:
        accounts.add(work, made, email=valid_email(email))
    return made


def refuse_email(work: Work, email: str) -> None:
    """Refuse what is no address, or is somebody's already: to be asked before a form is half done."""
    accounts.refuse_taken(work, valid_email(email))


def need_rename(work: Work, member: str) -> None:
    """Refuse unless the caller may rename the member. Everybody may rename themself."""
    work.need("see", member)
    work.view.member(member)
    if member == work.caller.member:
        need_whole(work, "rename its member", member)
    else:
        work.need("edit", member)


def rename(work: Work, member: str, name: str) -> None:
    """Call a member by another name."""
    need_rename(work, member)
    work.renamed(member, name)


def need_set_email(work: Work, member: str) -> None:
    """Refuse unless the caller may say with which address the member signs in."""
    need_over(work, "set the e-mail", member)
    work.view.member(member)


def set_email(work: Work, member: str, email: str) -> None:
    """Let a member sign in with another address. Whoever reads it could sign in, so it is as guarded as a link."""
    work.writing()
    need_set_email(work, member)
    address = valid_email(email)
    account = accounts.of(work, member)
    if account is not None and account.service:
        raise ConflictError(f"{shown(member)} is a service account, which nobody signs in to.", "Add a member.")
    if account is None:
        accounts.add(work, member, email=address)
    elif account.email != address:
        accounts.set_email(work, member, address)
        links.ended(work, member)
    work.note("set e-mail", member, before={"email": account.email} if account else {}, after={"email": address})


def _told(work: Work, found: Sequence[tuple[str, str, Moment]]) -> list[Member]:
    numbers = {uid: work.view.member(uid) for uid, _, _ in found}
    known = accounts.among(work, numbers.values())
    open_to = work.session.check(work.asker, MANAGE, work.caller.tenant)

    def told(uid: str, name: str, since: Moment) -> Member:
        account = known.get(numbers[uid])
        may = open_to or (uid == work.caller.member and work.caller.narrowed is None)
        email = account.email or None if account is not None and may else None
        groups = work.session.asking(lambda view: _groups(view, numbers[uid]))
        visible = tuple(group for group in groups if work.session.sees(work.asker, group))
        is_service = account is not None and account.service
        return Member(uid, name, since, email, is_service, roles.of(work, uid), visible)

    return [told(*row) for row in found]


def _since(work: Work, numbers: Sequence[int]) -> dict[int, Moment]:
    c = resource.c
    query = sa.select(c.id, c.since).where(c.tenant_id == work.session.tenant, c.id.in_(numbers))
    return {row.id: int(row.since) for row in work.session.transaction.connection.execute(query)}


def _groups(view: View, member: int) -> list[str]:
    return [view.uid(group) for group in view.out[MEMBER_OF].get(member) or ()]
