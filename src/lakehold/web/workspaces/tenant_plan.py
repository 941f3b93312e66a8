"""The tenant's plan, in the settings of workspaces whose model's rules read it."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request, Response

from lakehold.access import Add, Attribute
from lakehold.access.model.policy import TENANT
from lakehold.access.model.schema import KindSchema
from lakehold.api.http.dependencies import WriteContext
from lakehold.catalog import workspaces
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.web import pages, urls
from lakehold.web.components import FieldChange
from lakehold.web.confirmation import ConfirmationPrompt, confirm_effects, preview_effects
from lakehold.web.cookies import Flash
from lakehold.web.labels import humanize
from lakehold.web.routing import SubmittedForm, router

routes = router("/workspaces")

PLAN = "plan"


@dataclass(frozen=True, slots=True)
class TenantPlan:
    """The tenant's present plan, with its options."""

    value: str
    title: str
    options: list[tuple[str, str]]
    may: bool
    request: str


def load_plan(ctx: RequestContext, kind: KindSchema) -> TenantPlan | None:
    """Load the tenant's plan; None for a model that does not read it."""
    declared = ctx.view.policy.kind(TENANT).schema.attributes.get(PLAN)
    if declared is None or not any(f"tenant.{PLAN}" in clause.text for clause in kind.define.values()):
        return None
    tenant = ctx.caller.tenant
    value = _current_plan(ctx)
    return TenantPlan(
        value,
        humanize(value),
        [(each, humanize(each)) for each in declared.values],
        all(ctx.session.check_change(ctx.principal, Add(Attribute(tenant, PLAN, each))) for each in declared.values),
        urls.request(tenant, "set_plan"),
    )


@routes.post("/{uid:path}/settings/plan")
def set_plan(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Set the plan after its effect is confirmed."""
    workspaces.need_workspace(ctx, uid)
    new_plan, there = str(sent.get(PLAN, "")), urls.workspace(uid, "settings")
    declared = ctx.view.policy.kind(TENANT).schema.attributes[PLAN]
    if new_plan not in declared.values:
        raise InvalidInputError("There is no such plan.", "Select one from the list.")
    change = Add(Attribute(ctx.caller.tenant, PLAN, new_plan))
    ctx.need_change(change)
    prompt = ConfirmationPrompt(
        f"Change the plan to {humanize(new_plan)}?",
        "Applies to the whole tenant.",
        back=there,
        changes=[FieldChange("Plan", humanize(_current_plan(ctx)), humanize(new_plan))],
    )
    if question := confirm_effects(request, sent, prompt, lambda: preview_effects(ctx, [change])):
        return question
    ctx.make(change)
    return pages.redirect(request, there, Flash(f"The plan was changed to {humanize(new_plan)}."))


def _current_plan(ctx: RequestContext) -> str:
    declared = ctx.view.policy.kind(TENANT).schema.attributes[PLAN]
    return ctx.view.attributes[PLAN].get(ctx.view.resource(ctx.caller.tenant)) or declared.default
