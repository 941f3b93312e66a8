"""Tenant roles and security roles of a member or group."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.access import Add, Grant, Remove
from lakehold.access.model.policy import MEMBER, TENANT
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog.resource_view import ResourceRef, make_ref
from lakehold.directory import members
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.web import pages, urls
from lakehold.web.components import FieldChange
from lakehold.web.confirmation import ConfirmationPrompt, confirm_effects, preview_effects
from lakehold.web.routing import SubmittedForm, router

routes = router()

_HINTS = {
    "owner": "Everything, and billing. For people only.",
    "admin": "Members, groups, roles, settings, and every workspace.",
    "editor": "Editor in every products project.",
    "viewer": "Viewer in every products project.",
    "data_admin": "Governs data spaces and creates new ones.",
    "data_space_creator": "Creates data spaces.",
}


@routes.get("/people/{uid:path}/roles")
@routes.get("/groups/{uid:path}/roles")
def roles_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Show the current roles, or those chosen before the caller went back."""
    subject = _load_subject(ctx, uid)
    chosen = (
        request.query_params.getlist("role") if "chosen" in request.query_params else members.tenant_roles(ctx, uid)
    )
    return _roles_form(request, ctx, subject, chosen)


@routes.post("/people/{uid:path}/roles")
@routes.post("/groups/{uid:path}/roles")
def set_roles(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Show the effect of the change, then save it."""
    subject = _load_subject(ctx, uid)
    new_roles = _chosen_roles(ctx, subject, sent, members.tenant_roles(ctx, uid))
    try:
        members.need_set_tenant_roles(ctx, uid, new_roles)
        if question := _confirm_change(request, ctx, sent, subject, new_roles):
            return question
        members.set_tenant_roles(ctx, uid, new_roles)
    except (ConflictError, InvalidInputError) as error:
        return _roles_form(request, ctx, subject, new_roles, str(error))
    return pages.redirect(request, urls.for_kind(uid, subject.kind), f"The roles of {subject.name} were saved.")


def _load_subject(ctx: RequestContext, uid: str) -> ResourceRef:
    ctx.need("see", uid)
    found = ctx.session.read_view(lambda view: make_ref(view, uid))
    roles = ctx.view.policy.kind(TENANT).schema.roles
    if not any(ctx.session.check(ctx.principal, "give", ctx.caller.tenant, role=role) for role in roles):
        ctx.need("set_tenant_role", ctx.caller.tenant)
    return found


def _chosen_roles(ctx: RequestContext, subject: ResourceRef, sent: FormData, held: Sequence[str]) -> list[str]:
    """Return the chosen roles, plus held roles that the caller may not take away."""
    chosen = [str(role) for role in sent.getlist("role")]
    kept = [role for role in held if not _may_give(ctx, subject, role)]
    return [role for role in ctx.view.policy.kind(TENANT).schema.roles if role in {*chosen, *kept}]


def _may_give(ctx: RequestContext, subject: ResourceRef, role: str) -> bool:
    declared = ctx.view.policy.role(TENANT, role)
    if declared.person_only and subject.kind != MEMBER:
        return False
    return ctx.session.check(ctx.principal, "give", ctx.caller.tenant, role=role)


def _confirm_change(
    request: Request, ctx: RequestContext, sent: FormData, subject: ResourceRef, new_roles: Sequence[str]
) -> Response | None:
    held, tenant = members.tenant_roles(ctx, subject.uid), ctx.caller.tenant
    changes: list[Add | Remove] = [Add(Grant(subject.uid, role, tenant)) for role in new_roles if role not in held]
    changes += [Remove(Grant(subject.uid, role, tenant)) for role in held if role not in new_roles]
    if not changes:
        return None

    def words(some: Sequence[str]) -> str | None:
        return ", ".join(ctx.view.policy.role(TENANT, role).title for role in some) or None

    query = "&".join(["chosen=1", *(f"role={role}" for role in new_roles)])
    asking = ConfirmationPrompt(
        f"Change the roles of {subject.name}?",
        back=f"{urls.for_kind(subject.uid, subject.kind)}/roles?{query}",
        changes=[FieldChange("Roles", words(held), words(new_roles))],
    )
    return confirm_effects(request, sent, asking, lambda: preview_effects(ctx, changes))


def _roles_form(
    request: Request, ctx: RequestContext, subject: ResourceRef, chosen: Sequence[str], error: str = ""
) -> Response:
    declared = ctx.view.policy.kind(TENANT).schema.roles
    values: dict[str, object] = {
        "subject": subject,
        "home": urls.for_kind(subject.uid, subject.kind),
        "roles": [
            (role, kept.title, _HINTS.get(role, ""), role in chosen, _may_give(ctx, subject, role))
            for role, kept in declared.items()
        ],
        "error": error,
    }
    return pages.render(request, "people/roles.html", values, status=422 if error else 200)
