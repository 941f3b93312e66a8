"""Transfer of roles that a single person holds, from one member to another in one step."""

from lakehold.access import Add, Grant, Remove
from lakehold.access.facts.records import require_text
from lakehold.access.model.policy import MEMBER
from lakehold.catalog import kinds, resource_view
from lakehold.directory import member_removal
from lakehold.directory.member_removal import OwnedRole
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.kit.ids import quote


def transfer_role(ctx: RequestContext, uid: str, role: str, to: str, *, from_: str | None = None) -> None:
    """Transfer a role to another member. `from_` may be left out where one person holds it."""
    ctx.need_visible(uid, "transfer")
    declared = ctx.view.policy.role(kinds.schema_of(ctx.view, uid).id, require_text(role, "role"))
    if not declared.person_only:
        raise InvalidInputError(f"{declared.title} is not a role of a single owner.", "Grant or revoke it instead.")
    old = _current_holder(ctx, uid, role, from_)
    if old == to:
        raise ConflictError(f"{quote(to)} holds it already.", "Name another member.")
    addition, removal = Add(Grant(to, role, uid)), Remove(Grant(old, role, uid))
    ctx.need_change(addition)
    ctx.need_change(removal)
    ctx.make_unchecked(addition)
    if not declared.single:
        ctx.make_unchecked(removal)
    ctx.note("transfer", uid, before={role: old}, after={role: to})


def _current_holder(ctx: RequestContext, uid: str, role: str, holder: str | None) -> str:
    held = ctx.session.read_view(lambda view: resource_view.owners_of(view, uid)[role])
    if holder is not None:
        if holder not in held:
            raise NotFoundError(f"{quote(holder)} does not hold {quote(role)} there.", "Check the list of grants.")
        return holder
    if not held:
        raise ConflictError(f"Nobody holds {quote(role)} there.", "Grant it instead.")
    if len(held) > 1:
        raise InvalidInputError(f"{len(held)} members hold {quote(role)} there.", "Name the current holder.")
    return held[0]


def owned_in_workspace(ctx: RequestContext, uid: str, subject: str) -> list[OwnedRole]:
    """Return what a member owns in a workspace, of what the caller may see; a group owns nothing."""
    if ctx.view.kind(ctx.view.resource(subject)) != MEMBER:
        return []
    return [
        each
        for each in member_removal.owned_by(ctx, subject)
        if each.resource != uid
        and ctx.session.read_view(lambda view, one=each: kinds.workspace_of(view, one.resource)) == uid  # type: ignore[misc]
        and ctx.session.can_see(ctx.principal, each.resource)
    ]


def transfer_all(ctx: RequestContext, uid: str, subject: str, receiver: str) -> tuple[list[OwnedRole], list[OwnedRole]]:
    """Transfer what the caller may give away to another member, and return what was transferred and what stays."""
    ctx.need_visible(subject, "revoke")
    ctx.need_visible(receiver, "grant")
    if receiver == subject or ctx.view.kind(ctx.view.resource(receiver)) != MEMBER:
        raise InvalidInputError("It can only be transferred to another member.", "Choose another member.")
    moved: list[OwnedRole] = []
    left: list[OwnedRole] = []
    for each in owned_in_workspace(ctx, uid, subject):
        if member_removal.may_hand_over(ctx, each, receiver):
            transfer_role(ctx, each.resource, each.role, receiver, from_=subject)
            moved.append(each)
        else:
            left.append(each)
    return moved, left
