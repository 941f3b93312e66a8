"""The tenant's plan, where a model's rules read it: on the settings of a workspace that it changes."""

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
from lakehold.web import addresses, pages
from lakehold.web.diffs import Change
from lakehold.web.effects import Asking, ask_first, preview
from lakehold.web.flashes import Flash
from lakehold.web.routes import Sent, router
from lakehold.web.words import spoken

routes = router("/workspaces")

PLAN = "plan"


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan that holds, and the others."""

    value: str
    title: str
    options: list[tuple[str, str]]
    may: bool
    request: str


def plan(ctx: RequestContext, kind: KindSchema) -> Plan | None:
    """The tenant's plan; None for a model that does not ask for it."""
    declared = ctx.view.policy.kind(TENANT).schema.attributes.get(PLAN)
    if declared is None or not any(f"tenant.{PLAN}" in clause.text for clause in kind.define.values()):
        return None
    tenant = ctx.caller.tenant
    value = _value(ctx)
    return Plan(
        value,
        spoken(value),
        [(each, spoken(each)) for each in declared.values],
        all(ctx.session.check_change(ctx.asker, Add(Attribute(tenant, PLAN, each))) for each in declared.values),
        addresses.request(tenant, "set_plan"),
    )


@routes.post("/{uid:path}/settings/plan")
def set_plan(request: Request, ctx: WriteContext, uid: str, sent: Sent) -> Response:
    """Show what another plan would do, then set it."""
    workspaces.need_workspace(ctx, uid)
    wanted, there = str(sent.get(PLAN, "")), addresses.workspace(uid, "settings")
    declared = ctx.view.policy.kind(TENANT).schema.attributes[PLAN]
    if wanted not in declared.values:
        raise InvalidInputError("There is no such plan.", "Choose one of the list.")
    change = Add(Attribute(ctx.caller.tenant, PLAN, wanted))
    ctx.need_change(change)
    asking = Asking(
        f"Change the plan to {spoken(wanted)}?",
        "It holds for the whole tenant.",
        back=there,
        changes=[Change("Plan", spoken(_value(ctx)), spoken(wanted))],
    )
    if question := ask_first(request, sent, asking, lambda: preview(ctx, [change])):
        return question
    ctx.make(change)
    return pages.go(request, there, Flash(f"The plan is {spoken(wanted)}."))


def _value(ctx: RequestContext) -> str:
    declared = ctx.view.policy.kind(TENANT).schema.attributes[PLAN]
    return ctx.view.attributes[PLAN].get(ctx.view.resource(ctx.caller.tenant)) or declared.default
