"""A member leaves, or is removed. What they own is handed over or left without an owner; nothing is deleted with them.

Their account, sign-ins, tokens and links end in the same transaction. The last Owner and the last Admin stay.
"""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.access import Grant, Remove
from lakehold.access.facts.view import FactView, role_bit
from lakehold.access.model.policy import MEMBER, MEMBER_OF
from lakehold.directory import accounts, links, ownership, roles, sign_ins, tokens
from lakehold.directory.ownership import Owned
from lakehold.directory.request_context import RequestContext
from lakehold.directory.standing import need_whole
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import quote


@dataclass(frozen=True, slots=True)
class Preview:
    """What would become of a member's things."""

    member: str
    name: str
    owns: tuple[Owned, ...]
    """What of it the caller may see."""
    more: bool
    """Whether they own more than that."""
    tokens: int
    sign_ins: int


@dataclass(frozen=True, slots=True)
class Removed:
    """What has become of them."""

    member: str
    name: str
    moved: tuple[Owned, ...]
    """What the receiver holds now."""
    left: tuple[Owned, ...]
    """What this member no longer owns and nobody was given. Others may still own it too."""
    more: bool
    """Whether there is more of either that the caller may not see."""


def preview(ctx: RequestContext, member: str) -> Preview:
    """What a member owns and has, before they are removed."""
    _need(ctx, member)
    owns = ownership.of(ctx, member)
    seen = _seen(ctx, owns)
    tokens_, sign_ins_ = tokens.of(ctx, member), sign_ins.of(ctx, member)
    return Preview(member, _name(ctx, member), tuple(seen), len(seen) < len(owns), len(tokens_), len(sign_ins_))


def remove(ctx: RequestContext, member: str, *, receiver: str | None = None) -> Removed:
    """Remove a member, or leave. With a receiver, what they own is handed over; without one it is left.

    Who leaves by themself hands over what they may give away; the rest is left, and told.
    """
    ctx.writing()
    _need(ctx, member)
    _refuse_the_last(ctx, member)
    if receiver is not None:
        _refuse_receiver(ctx, member, receiver)
    name, seen = _name(ctx, member), set(_seen(ctx, ownership.of(ctx, member)))
    moved, left = _shared_out(ctx, member, receiver)
    accounts.end(ctx, member)
    links.ended(ctx, member)
    sign_ins.ended(ctx, member)
    tokens.ended(ctx, member)
    told = {"handed_over_to": receiver or "", "handed_over": _told(moved), "left": _told(left)}
    ctx.note("remove member", member, after={key: value for key, value in told.items() if value})
    ctx.deleted(member)
    told_moved, told_left = (tuple(one for one in owned if one in seen) for owned in (moved, left))
    return Removed(member, name, told_moved, told_left, more=len(seen) < len(moved) + len(left))


def _need(ctx: RequestContext, member: str) -> None:
    """An Owner is removed by Owners only, others by those who keep members; everybody may leave."""
    need_whole(ctx, "remove members", member)
    ctx.need("see", member)
    ctx.view.member(member)
    if member == ctx.caller.member:
        return
    if roles.OWNER in roles.of(ctx, member):
        ctx.need_change(Remove(Grant(member, roles.OWNER, ctx.caller.tenant)))
    ctx.need("delete", member)


def _refuse_the_last(ctx: RequestContext, member: str) -> None:
    others = ctx.session.read_view(
        lambda view: {role: _holders(view, ctx.caller.tenant, role) for role in (roles.OWNER, roles.ADMIN)}
    )
    services = {
        number for number, account in accounts.among(ctx, set().union(*others.values())).items() if account.service
    }
    number = ctx.view.member(member)
    for role, holders in others.items():
        # A service account cannot sign in, and so cannot look after a tenant.
        if number in holders and not holders - {number} - services:
            title = ctx.view.policy.role("tenant.tenant", role).title
            raise ConflictError(
                f"{_name(ctx, member)} is the last {title} of the tenant, and cannot leave it.",
                f"Make somebody else {title} first.",
            )


def _holders(view: FactView, tenant: str, role: str) -> set[int]:
    """The members who hold a role on the tenant, themselves or by a group."""
    found: set[int] = set()
    for subject, mask in (view.grants.get(view.resource(tenant)) or {}).items():
        if mask & role_bit(role):
            found |= {subject} if view.kind(subject) == MEMBER else set(view.edges_in[MEMBER_OF].get(subject) or ())
    return found


def _refuse_receiver(ctx: RequestContext, member: str, receiver: str) -> None:
    ctx.need("see", receiver)
    ctx.view.member(receiver)
    if receiver == member:
        raise InvalidInputError("Whoever leaves cannot be who it is handed over to.", "Name another member.")


def _shared_out(ctx: RequestContext, member: str, receiver: str | None) -> tuple[list[Owned], list[Owned]]:
    moved: list[Owned] = []
    left: list[Owned] = []
    leaves = member == ctx.caller.member
    for owned in ownership.of(ctx, member):
        if receiver is None or (leaves and not ownership.may_hand_over(ctx, owned, receiver)):
            left.append(owned)
        else:
            ownership.hand_over(ctx, owned, receiver)
            moved.append(owned)
    return moved, left


def _seen(ctx: RequestContext, owned: list[Owned]) -> list[Owned]:
    return [one for one in owned if ctx.session.can_see(ctx.asker, one.resource)]


def _told(owned: list[Owned]) -> list[str]:
    return [f"{one.role} of {one.resource}" for one in owned]


def _name(ctx: RequestContext, member: str) -> str:
    return ctx.view.names.get(ctx.view.member(member)) or quote(member)
