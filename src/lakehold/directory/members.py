"""Members: who belongs to the tenant. Everybody in it may know of them; their e-mail is for those who keep members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

# past the access filter: since when a member is there, of one that was asked for before
from lakehold.access.facts.tables import resource
from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import MEMBER, MEMBER_OF
from lakehold.directory import accounts, links, roles
from lakehold.directory.emails import valid_email
from lakehold.directory.request_context import RequestContext
from lakehold.directory.standing import MANAGE, need_over, need_whole
from lakehold.kit.clock import Moment
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import quote


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


def page(
    ctx: RequestContext, *, search: str = "", sort: str = "name", after: str | None = None, limit: int = 50
) -> Members:
    """One page of the members."""
    found = ctx.session.list(ctx.asker, "see", MEMBER, search=search, sort=sort, after=after, limit=limit)
    return Members(_told(ctx, [(item.uid, item.name, item.since) for item in found.items]), found.after)


def one(ctx: RequestContext, member: str) -> Member:
    """One member's profile."""
    ctx.need("see", member)
    (told,) = numbered(ctx, [ctx.view.member(member)])
    return told


def numbered(ctx: RequestContext, numbers: Sequence[int]) -> list[Member]:
    """The members of these numbers, in their order. Whether the caller may know of them has been asked before."""
    since = _since(ctx, numbers)
    return _told(ctx, [(ctx.view.uid(one), ctx.view.names.get(one) or "", since[one]) for one in numbers])


def add(ctx: RequestContext, name: str, *, email: str = "", uid: str | None = None) -> str:
    """Make a member without an invite. With an e-mail address they can sign in as soon as they have a link."""
    made = ctx.create(MEMBER, name, uid=uid, edges={"tenant": ctx.caller.tenant})
    if email:
        accounts.add(ctx, made, email=valid_email(email))
    return made


def refuse_email(ctx: RequestContext, email: str) -> None:
    """Refuse what is no address, or is somebody's already: to be asked before a form is half done."""
    accounts.refuse_taken(ctx, valid_email(email))


def need_rename(ctx: RequestContext, member: str) -> None:
    """Refuse unless the caller may rename the member. Everybody may rename themself."""
    ctx.need("see", member)
    ctx.view.member(member)
    if member == ctx.caller.member:
        need_whole(ctx, "rename its member", member)
    else:
        ctx.need("edit", member)


def rename(ctx: RequestContext, member: str, name: str) -> None:
    """Call a member by another name."""
    need_rename(ctx, member)
    ctx.renamed(member, name)


def need_set_email(ctx: RequestContext, member: str) -> None:
    """Refuse unless the caller may say with which address the member signs in."""
    need_over(ctx, "set the e-mail", member)
    ctx.view.member(member)


def set_email(ctx: RequestContext, member: str, email: str) -> None:
    """Let a member sign in with another address. Whoever reads it could sign in, so it is as guarded as a link."""
    ctx.writing()
    need_set_email(ctx, member)
    address = valid_email(email)
    account = accounts.of(ctx, member)
    if account is not None and account.service:
        raise ConflictError(f"{quote(member)} is a service account, which nobody signs in to.", "Add a member.")
    if account is None:
        accounts.add(ctx, member, email=address)
    elif account.email != address:
        accounts.set_email(ctx, member, address)
        links.ended(ctx, member)
    ctx.note("set e-mail", member, before={"email": account.email} if account else {}, after={"email": address})


def _told(ctx: RequestContext, found: Sequence[tuple[str, str, Moment]]) -> list[Member]:
    numbers = {uid: ctx.view.member(uid) for uid, _, _ in found}
    known = accounts.among(ctx, numbers.values())
    open_to = ctx.session.check(ctx.asker, MANAGE, ctx.caller.tenant)

    def told(uid: str, name: str, since: Moment) -> Member:
        account = known.get(numbers[uid])
        may = open_to or (uid == ctx.caller.member and ctx.caller.narrowed is None)
        email = account.email or None if account is not None and may else None
        groups = ctx.session.read_view(lambda view: _groups(view, numbers[uid]))
        visible = tuple(group for group in groups if ctx.session.can_see(ctx.asker, group))
        is_service = account is not None and account.service
        return Member(uid, name, since, email, is_service, roles.of(ctx, uid), visible)

    return [told(*row) for row in found]


def _since(ctx: RequestContext, numbers: Sequence[int]) -> dict[int, Moment]:
    c = resource.c
    query = sa.select(c.id, c.since).where(c.tenant_id == ctx.session.tenant, c.id.in_(numbers))
    return {row.id: int(row.since) for row in ctx.session.transaction.connection.execute(query)}


def _groups(view: FactView, member: int) -> list[str]:
    return [view.uid(group) for group in view.edges_out[MEMBER_OF].get(member) or ()]
