"""Removal of a member: what they own is handed over or left without an owner, and nothing is deleted with them.

Their account, sign-ins, tokens and links end in the same transaction. The last Owner and the last Admin stay.
"""

from dataclasses import dataclass

from lakehold.access import Add, Grant
from lakehold.access.facts.view import FactView, role_bit, role_names
from lakehold.access.model.policy import MEMBER, MEMBER_OF, TENANT
from lakehold.directory import accounts, links, sign_ins, tokens
from lakehold.directory.act_for import MANAGE, need_unrestricted
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import quote


@dataclass(frozen=True, slots=True)
class OwnedRole:
    """A role that makes a member the owner of a resource."""

    resource: str
    name: str
    kind: str
    role: str
    role_title: str


def owned_by(ctx: RequestContext, member: str) -> list[OwnedRole]:
    """Return what the member owns, by kind and name."""
    return ctx.session.read_view(lambda view: _find_owned(view, member))


def may_hand_over(ctx: RequestContext, owned: OwnedRole, receiver: str) -> bool:
    """Whether the caller may give the role to the receiver by the model's own rule."""
    return ctx.session.check_change(ctx.principal, Add(Grant(receiver, owned.role, owned.resource)))


def _find_owned(view: FactView, member: str) -> list[OwnedRole]:
    number = view.member(member)
    found = [
        OwnedRole(view.uid(place), view.names.get(place) or "", kind.id, role, kind.schema.roles[role].title)
        for place, mask in (view.grants_by_subject.get(number) or {}).items()
        for kind in (view.policy.kind(view.kind(place)),)
        if kind.schema.creator is not None and kind.schema.roles[kind.schema.creator].person_only
        for role in role_names(mask)
        if role in kind.schema.roles and kind.schema.roles[role].person_only
    ]
    return sorted(found, key=lambda owned: (owned.kind, owned.name, owned.resource, owned.role))


@dataclass(frozen=True, slots=True)
class RemovalImpact:
    """The resources, tokens and sign-ins that the removal of a member would affect."""

    member: str
    name: str
    owns: tuple[OwnedRole, ...]
    """What of it the caller may see."""
    more: bool
    """Whether they own more than that."""
    tokens: int
    sign_ins: int


@dataclass(frozen=True, slots=True)
class RemovalResult:
    """The result of a removal: what was handed over, and what was left without this owner."""

    member: str
    name: str
    moved: tuple[OwnedRole, ...]
    """Transferred to the new owner."""
    left: tuple[OwnedRole, ...]
    """What this member no longer owns and nobody was given. Others may still own it too."""
    more: bool
    """Whether there is more of either that the caller may not see."""


def preview(ctx: RequestContext, member: str) -> RemovalImpact:
    """Return what the removal of a member would affect."""
    _need_remove(ctx, member)
    owns = owned_by(ctx, member)
    visible = _visible(ctx, owns)
    tokens_, sign_ins_ = tokens.list_of_member(ctx, member), sign_ins.list_of_member(ctx, member)
    return RemovalImpact(
        member, _name(ctx, member), tuple(visible), len(visible) < len(owns), len(tokens_), len(sign_ins_)
    )


def remove(ctx: RequestContext, member: str, *, receiver: str | None = None) -> RemovalResult:
    """Remove a member, or leave. With a receiver, what they own is handed over; without one it is left.

    A member who leaves hands over what they may give away; the rest is left, and listed in the result.
    """
    ctx.need_writable()
    _need_remove(ctx, member)
    _refuse_last_holder(ctx, member)
    if receiver is not None:
        ctx.need("see", receiver)
        ctx.view.member(receiver)
        if receiver == member:
            raise InvalidInputError("A member who is removed cannot be the new owner.", "Name another member.")
    name, visible = _name(ctx, member), set(_visible(ctx, owned_by(ctx, member)))
    moved, left = _hand_over_all(ctx, member, receiver)
    accounts.delete(ctx, member)
    links.delete_all(ctx, member)
    sign_ins.end_all_unchecked(ctx, member)
    tokens.delete_of_member(ctx, member)
    details = {"handed_over_to": receiver or "", "handed_over": _describe(moved), "left": _describe(left)}
    ctx.note("remove member", member, after={key: value for key, value in details.items() if value})
    ctx.delete_unchecked(member)
    visible_moved, visible_left = (tuple(one for one in owned if one in visible) for owned in (moved, left))
    return RemovalResult(member, name, visible_moved, visible_left, more=len(visible) < len(moved) + len(left))


def _need_remove(ctx: RequestContext, member: str) -> None:
    """Refuse unless the caller may remove the member, or leave."""
    need_unrestricted(ctx, "remove members", member)
    ctx.need("see", member)
    ctx.view.member(member)
    ctx.need("delete", member)


def _refuse_last_holder(ctx: RequestContext, member: str) -> None:
    schema = ctx.view.policy.kind(TENANT).schema
    # With each of them one looks after the members of the tenant.
    managing = [role for role in schema.roles if role in ctx.view.policy.roles_for(TENANT, MANAGE, TENANT)]
    others = ctx.session.read_view(lambda view: {role: _holders(view, ctx.caller.tenant, role) for role in managing})
    services = {
        number for number, account in accounts.get_many(ctx, set().union(*others.values())).items() if account.service
    }
    number = ctx.view.member(member)
    for role, holders in others.items():
        # A service account cannot sign in, and so cannot look after a tenant.
        if number in holders and not holders - {number} - services:
            title = schema.roles[role].title
            raise ConflictError(
                f"{_name(ctx, member)} is the last {title} of the tenant, and cannot leave it.",
                f"Make somebody else {title} first.",
            )
    for role in others:
        accounts.refuse_losing_sign_in(ctx, Grant(member, role, ctx.caller.tenant))


def _holders(view: FactView, tenant: str, role: str) -> set[int]:
    """Return the members who hold a role on the tenant, directly or by a group."""
    found: set[int] = set()
    for subject, mask in (view.grants.get(view.resource(tenant)) or {}).items():
        if mask & role_bit(role):
            found |= {subject} if view.kind(subject) == MEMBER else set(view.edges_in[MEMBER_OF].get(subject) or ())
    return found


def _hand_over_all(ctx: RequestContext, member: str, receiver: str | None) -> tuple[list[OwnedRole], list[OwnedRole]]:
    moved: list[OwnedRole] = []
    left: list[OwnedRole] = []
    leaves = member == ctx.caller.member
    for owned in owned_by(ctx, member):
        kept = leaves and receiver is not None and not may_hand_over(ctx, owned, receiver)
        if receiver is None or kept or not _is_given(ctx, owned):
            left.append(owned)
        else:
            ctx.make_unchecked(Add(Grant(receiver, owned.role, owned.resource)))
            moved.append(owned)
    return moved, left


def _is_given(ctx: RequestContext, owned: OwnedRole) -> bool:
    """Whether anybody may give the role. Where nobody may, as in a personal data space, it is not handed over."""
    schema = ctx.view.policy.kind(owned.kind).schema
    clause = schema.roles[owned.role].given_with
    return clause is None or clause.text not in schema.actions or bool(ctx.session.who(clause.text, owned.resource))


def _visible(ctx: RequestContext, owned: list[OwnedRole]) -> list[OwnedRole]:
    return [one for one in owned if ctx.session.can_see(ctx.principal, one.resource)]


def _describe(owned: list[OwnedRole]) -> list[str]:
    return [f"{one.role} of {one.resource}" for one in owned]


def _name(ctx: RequestContext, member: str) -> str:
    return ctx.view.names.get(ctx.view.member(member)) or quote(member)
