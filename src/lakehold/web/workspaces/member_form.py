"""The form that adds a member to a workspace or changes a membership."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.access.model.policy import MEMBER
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import change_preview, kinds, workspaces
from lakehold.catalog.resource_view import make_ref
from lakehold.directory.errors import HiddenError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.web import form_values, pages, urls
from lakehold.web.confirmation import ConfirmationPrompt, confirm_effects, preview_effects
from lakehold.web.cookies import Flash
from lakehold.web.people import member_picker
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.workspaces import membership
from lakehold.web.workspaces.members import breadcrumbs, find_member, workspace_ref
from lakehold.web.workspaces.membership import MembershipForm

routes = router("/workspaces")

_ADD_PATH, _CHANGE_PATH = "members/add", "members/change"


@routes.get("/{uid:path}/members/add")
@routes.get("/{uid:path}/members/change")
def member_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the form with the present membership, or with the submitted values after going back."""
    _check_may_give(ctx, uid)
    filled = MembershipForm.parse(request.query_params)
    if filled.subject and "filled" not in request.query_params:
        filled = membership.current_membership(ctx, uid, find_member(ctx, uid, filled.subject))
    return _form(request, ctx, uid, filled, find=request.query_params.get("find", ""))


@routes.post("/{uid:path}/members/add")
@routes.post("/{uid:path}/members/change")
def set_member(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Save the membership after its effect is confirmed."""
    _check_may_give(ctx, uid)
    filled = MembershipForm.parse(sent)
    try:
        member = find_member(ctx, uid, filled.subject)
        membership_change = membership.plan_membership(ctx, uid, filled, member)
        if not membership_change.roles and not member.roles:
            return _form(request, ctx, uid, filled, errors={"role": "Select a role."})
        prompt = ConfirmationPrompt(
            f"{'Change' if member.roles else 'Add'} {member.subject.name}?",
            f"Until the end of {filled.until}." if filled.until else "",
            back=f"{urls.workspace(uid, _form_path(request))}?{filled.to_query()}",
        )
        if question := confirm_effects(request, sent, prompt, lambda: preview_effects(ctx, membership_change.changes)):
            return question
        for change in membership_change.labels:
            ctx.need_change(change)
        workspaces.set_member(
            ctx,
            uid,
            member.subject.uid,
            roles=membership_change.roles,
            attributes=membership_change.values,
            until=membership_change.until,
        )
        for change in membership_change.labels:
            ctx.make_unchecked(change)
    except (InvalidInputError, ConflictError) as error:
        return _form(request, ctx, uid, filled, errors=form_values.errors_by_field(error, {"until": "until"}, "role"))
    except (HiddenError, NotFoundError) as error:
        return _form(request, ctx, uid, filled, errors={"subject": str(error)})
    return pages.redirect(request, urls.workspace(uid, "members"), Flash(f"{member.subject.name} was saved."))


def _form_path(request: Request) -> str:
    return _CHANGE_PATH if request.url.path.endswith(_CHANGE_PATH) else _ADD_PATH


def _check_may_give(ctx: RequestContext, uid: str) -> None:
    """Refuse a caller who gives no role here, with the right that they would need."""
    workspaces.need_workspace(ctx, uid)
    if not change_preview.gives_roles_on(ctx, uid):
        role = next(iter(kinds.schema_of(ctx.view, uid).roles))
        ctx.need("give", uid, role=role)


def _form(
    request: Request,
    ctx: RequestContext,
    uid: str,
    filled: MembershipForm,
    *,
    find: str = "",
    errors: dict[str, str] | None = None,
) -> Response:
    space, changes = workspace_ref(ctx, uid), _form_path(request) == _CHANGE_PATH
    inside = set() if changes else {member.subject.uid for member in workspaces.members(ctx, uid)}
    subject = ctx.session.read_view(lambda view: make_ref(view, filled.subject)) if changes else None
    values: dict[str, object] = {
        "crumbs": breadcrumbs(ctx, space, "Members"),
        "space": space,
        "form": urls.workspace(uid, _form_path(request)),
        "subject": subject,
        "picked": member_picker.principal_choices(ctx, find, but=inside, chosen=filled.subject)
        if not changes
        else None,
        "filled": filled,
        "chosen_values": dict(filled.values),
        "roles": membership.role_fields(ctx, uid),
        "ladder": membership.is_role_hierarchy(kinds.schema_of(ctx.view, uid)),
        "values": membership.value_fields(ctx, uid) if subject is None or subject.kind == MEMBER else [],
        "labels": membership.label_fields(ctx, uid) if subject is None or subject.kind == MEMBER else [],
        "today": form_values.today(ctx),
        "errors": errors or {},
    }
    return pages.render(request, "workspaces/member.html", values, status=422 if errors else 200)
