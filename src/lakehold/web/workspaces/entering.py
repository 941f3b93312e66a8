"""Adding somebody to a workspace, and changing what they have in it."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.access.model.policy import MEMBER
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import change_preview, kinds, workspaces
from lakehold.catalog.resource_view import make_ref
from lakehold.directory.errors import HiddenError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.web import addresses, days, pages
from lakehold.web.effects import Asking, ask_first, preview
from lakehold.web.flashes import Flash
from lakehold.web.people import picking
from lakehold.web.routes import Sent, router
from lakehold.web.workspaces import membership
from lakehold.web.workspaces.members import member_of, space_of, trail
from lakehold.web.workspaces.membership import Filled

routes = router("/workspaces")

_ADD, _CHANGE = "members/add", "members/change"


@routes.get("/{uid:path}/members/add")
@routes.get("/{uid:path}/members/change")
def member_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """What somebody has now, or what was filled in before going back."""
    _need_keeper(ctx, uid)
    filled = Filled.of(request.query_params)
    if filled.subject and "filled" not in request.query_params:
        filled = membership.present(ctx, uid, member_of(ctx, uid, filled.subject))
    return _form(request, ctx, uid, filled, find=request.query_params.get("find", ""))


@routes.post("/{uid:path}/members/add")
@routes.post("/{uid:path}/members/change")
def set_member(request: Request, ctx: WriteContext, uid: str, sent: Sent) -> Response:
    """Show what it would do, then do it."""
    _need_keeper(ctx, uid)
    filled = Filled.of(sent)
    try:
        member = member_of(ctx, uid, filled.subject)
        wanted = membership.wanted(ctx, uid, filled, member)
        if not wanted.roles and not member.roles:
            return _form(request, ctx, uid, filled, errors={"role": "Choose what they are to be here."})
        asking = Asking(
            f"{'Change' if member.roles else 'Add'} {member.subject.name}?",
            f"Until the end of {filled.until}." if filled.until else "",
            back=f"{addresses.workspace(uid, _part(request))}?{filled.query()}",
        )
        if question := ask_first(request, sent, asking, lambda: preview(ctx, wanted.changes)):
            return question
        for change in wanted.labels:
            ctx.need_change(change)
        workspaces.set_member(
            ctx, uid, member.subject.uid, roles=wanted.roles, attributes=wanted.values, until=wanted.until
        )
        for change in wanted.labels:
            ctx.make_unchecked(change)
    except (InvalidInputError, ConflictError) as error:
        return _form(request, ctx, uid, filled, errors={"until" if filled.until else "role": str(error)})
    except (HiddenError, NotFoundError) as error:
        return _form(request, ctx, uid, filled, errors={"subject": str(error)})
    return pages.go(request, addresses.workspace(uid, "members"), Flash(f"{member.subject.name} is saved."))


def _part(request: Request) -> str:
    return _CHANGE if request.url.path.endswith(_CHANGE) else _ADD


def _need_keeper(ctx: RequestContext, uid: str) -> None:
    """Refuse who gives no role here, with what they would need."""
    workspaces.need_workspace(ctx, uid)
    if not change_preview.gives_roles_on(ctx, uid):
        role = next(iter(kinds.schema_of(ctx.view, uid).roles))
        ctx.need("give", uid, role=role)


def _form(
    request: Request,
    ctx: RequestContext,
    uid: str,
    filled: Filled,
    *,
    find: str = "",
    errors: dict[str, str] | None = None,
) -> Response:
    space, changes = space_of(ctx, uid), _part(request) == _CHANGE
    inside = set() if changes else {member.subject.uid for member in workspaces.members(ctx, uid)}
    subject = ctx.session.read_view(lambda view: make_ref(view, filled.subject)) if changes else None
    values: dict[str, object] = {
        "crumbs": trail(ctx, space, "Members"),
        "space": space,
        "form": addresses.workspace(uid, _part(request)),
        "subject": subject,
        "picked": picking.people_and_groups(ctx, find, but=inside, chosen=filled.subject) if not changes else None,
        "filled": filled,
        "chosen_values": dict(filled.values),
        "roles": membership.role_fields(ctx, uid),
        "ladder": membership.is_ladder(kinds.schema_of(ctx.view, uid)),
        "values": membership.value_fields(ctx, uid) if subject is None or subject.kind == MEMBER else [],
        "labels": membership.label_fields(ctx, uid) if subject is None or subject.kind == MEMBER else [],
        "today": days.today(ctx),
        "errors": errors or {},
    }
    return pages.page(request, "workspaces/member.html", values, status=422 if errors else 200)
