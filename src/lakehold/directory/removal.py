"""A member leaves, or is removed. What they own is handed over or left without an owner; nothing is deleted with them.

Their account, sign-ins, tokens and links end in the same transaction. The last Owner and the last Admin stay.
"""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.access import Grant, Remove
from lakehold.access.facts.view import View, role_bit
from lakehold.access.model.policy import MEMBER, MEMBER_OF
from lakehold.directory import accounts, links, ownership, roles, sign_ins, tokens
from lakehold.directory.ownership import Owned
from lakehold.directory.standing import need_whole
from lakehold.directory.work import Work
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import shown


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


def preview(work: Work, member: str) -> Preview:
    """What a member owns and has, before they are removed."""
    _need(work, member)
    owns = ownership.of(work, member)
    seen = _seen(work, owns)
    tokens_, sign_ins_ = tokens.of(work, member), sign_ins.of(work, member)
    return Preview(member, _name(work, member), tuple(seen), len(seen) < len(owns), len(tokens_), len(sign_ins_))


def remove(work: Work, member: str, *, receiver: str | None = None) -> Removed:
    """Remove a member, or leave. With a receiver, what they own is handed over; without one it is left.

    Who leaves by themself hands over what they may give away; the rest is left, and told.
    """
    work.writing()
    _need(work, member)
    _refuse_the_last(work, member)
    if receiver is not None:
        _refuse_receiver(work, member, receiver)
    name, seen = _name(work, member), set(_seen(work, ownership.of(work, member)))
    moved, left = _shared_out(work, member, receiver)
    accounts.end(work, member)
    links.ended(work, member)
    sign_ins.ended(work, member)
    tokens.ended(work, member)
    told = {"handed_over_to": receiver or "", "handed_over": _told(moved), "left": _told(left)}
    work.note("remove member", member, after={key: value for key, value in told.items() if value})
    work.deleted(member)
    told_moved, told_left = (tuple(one for one in owned if one in seen) for owned in (moved, left))
    return Removed(member, name, told_moved, told_left, more=len(seen) < len(moved) + len(left))


def _need(work: Work, member: str) -> None:
    """An Owner is removed by Owners only, others by those who keep members; everybody may leave."""
    need_whole(work, "remove members", member)
    work.need("see", member)
    work.view.member(member)
    if member == work.caller.member:
        return
    if roles.OWNER in roles.of(work, member):
        work.need_change(Remove(Grant(member, roles.OWNER, work.caller.tenant)))
    work.need("delete", member)


def _refuse_the_last(work: Work, member: str) -> None:
    others = work.session.asking(
        lambda view: {role: _holders(view, work.caller.tenant, role) for role in (roles.OWNER, roles.ADMIN)}
    )
    services = {
        number for number, account in accounts.among(work, set().union(*others.values())).items() if account.service
    }
    number = work.view.member(member)
    for role, holders in others.items():
        # A service account cannot sign in, and so cannot look after a tenant.
        if number in holders and not holders - {number} - services:
            title = work.view.policy.role("tenant.tenant", role).title
            raise ConflictError(
                f"{_name(work, member)} is the last {title} of the tenant, and cannot leave it.",
                f"Make somebody else {title} first.",
            )


def _holders(view: View, tenant: str, role: str) -> set[int]:
    """The members who hold a role on the tenant, themselves or by a group."""
    found: set[int] = set()
    for subject, mask in (view.grants.get(view.resource(tenant)) or {}).items():
        if mask & role_bit(role):
            found |= {subject} if view.kind(subject) == MEMBER else set(view.back[MEMBER_OF].get(subject) or ())
    return found


def _refuse_receiver(work: Work, member: str, receiver: str) -> None:
    work.need("see", receiver)
    work.view.member(receiver)
    if receiver == member:
        raise InvalidInputError("Whoever leaves cannot be who it is handed over to.", "Name another member.")


def _shared_out(work: Work, member: str, receiver: str | None) -> tuple[list[Owned], list[Owned]]:
    moved: list[Owned] = []
    left: list[Owned] = []
    leaves = member == work.caller.member
    for owned in ownership.of(work, member):
        if receiver is None or (leaves and not ownership.may_hand_over(work, owned, receiver)):
            left.append(owned)
        else:
            ownership.hand_over(work, owned, receiver)
            moved.append(owned)
    return moved, left


def _seen(work: Work, owned: list[Owned]) -> list[Owned]:
    return [one for one in owned if work.session.sees(work.asker, one.resource)]


def _told(owned: list[Owned]) -> list[str]:
    return [f"{one.role} of {one.resource}" for one in owned]


def _name(work: Work, member: str) -> str:
    return work.view.names.get(work.view.member(member)) or shown(member)
