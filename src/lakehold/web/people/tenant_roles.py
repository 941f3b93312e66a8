"""Tenant roles and security roles of a member or group."""

from collections.abc import Sequence

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.access import Add, Grant, Remove
from lakehold.access.model.policy import MEMBER, TENANT
from lakehold.api.http.dependencies import FormContext
from lakehold.catalog.resource_view import ResourceRef, make_ref
from lakehold.directory import members
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.web import pages, urls
from lakehold.web.components import FieldChange
from lakehold.web.confirmation import ConfirmationPrompt, need_confirmed_effects, preview_effects
from lakehold.web.form_values import FieldErrors
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router

routes = router()


@routes.api_route("/people/{uid:path}/roles", methods=FORM_METHODS)
@routes.api_route("/groups/{uid:path}/roles", methods=FORM_METHODS)
def change_roles(request: Request, ctx: FormContext, uid: str, sent: SubmittedForm) -> Response:
    """Show the roles; show the effect of a change, then save it."""
    ctx.need("see", uid)
    subject = ctx.session.read_view(lambda view: make_ref(view, uid))
    declared, tenant = ctx.view.policy.kind(TENANT).schema.roles, ctx.caller.tenant
    givable = {role for role in declared if ctx.session.check(ctx.principal, "give", tenant, role=role)}
    if not givable:
        ctx.need("set_tenant_role", tenant)
    if subject.kind != MEMBER:
        givable = {role for role in givable if not declared[role].person_only}
    held, errors = members.tenant_roles(ctx, uid), FieldErrors()
    chosen: Sequence[str] = held
    if request.method == "POST":
        # Roles that the caller may not take away are kept.
        new_roles = {*map(str, sent.getlist("role")), *(role for role in held if role not in givable)}
        chosen = [role for role in declared if role in new_roles]
        with errors.at(f"role-{next(iter(declared))}", ConflictError, InvalidInputError):
            members.need_set_tenant_roles(ctx, uid, chosen)
            _need_confirmed_change(request, ctx, sent, subject, chosen)
            members.set_tenant_roles(ctx, uid, chosen)
            return pages.redirect(request, urls.for_kind(uid, subject.kind), f"The roles of {subject.name} were saved.")
    values: dict[str, object] = {
        "subject": subject,
        "home": urls.for_kind(uid, subject.kind),
        "roles": [(role, role.name in chosen, role.name in givable) for role in declared.values()],
    }
    return pages.render_form(request, "people/roles.html", values, errors)


def _need_confirmed_change(
    request: Request, ctx: RequestContext, sent: FormData, subject: ResourceRef, new_roles: Sequence[str]
) -> None:
    held, tenant = members.tenant_roles(ctx, subject.uid), ctx.caller.tenant
    changes: list[Add | Remove] = [Add(Grant(subject.uid, role, tenant)) for role in new_roles if role not in held]
    changes += [Remove(Grant(subject.uid, role, tenant)) for role in held if role not in new_roles]
    if not changes:
        return

    def words(some: Sequence[str]) -> str | None:
        return ", ".join(ctx.view.policy.role(TENANT, role).title for role in some) or None

    asking = ConfirmationPrompt(
        f"Change the roles of {subject.name}?",
        changes=[FieldChange("Roles", words(held), words(new_roles))],
    )
    need_confirmed_effects(request, sent, asking, lambda: preview_effects(ctx, changes))
