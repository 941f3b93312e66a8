"""The settings and edges by which a thing is shared, changed in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response
from starlette.datastructures import ImmutableMultiDict

from lakehold.api.http.dependencies import WriteContext
from lakehold.catalog import kinds, resource_edit, resource_view
from lakehold.catalog.resource_edit import EditPlan, ResourceEdit
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError
from lakehold.web import addresses, pages
from lakehold.web.access import previewing, saying
from lakehold.web.diffs import Change
from lakehold.web.effects import Asking, ask_first
from lakehold.web.flashes import Flash
from lakehold.web.routes import Sent, router
from lakehold.web.words import spoken

routes = router("/resources/{uid:path}/access/settings")

_SHOWN = "shown"
"""Names the settings that a form had: a switch that is off sends nothing."""


@routes.post("")
def save_settings(request: Request, ctx: WriteContext, uid: str, sent: Sent) -> Response:
    """Change them all together, once the effect has been seen."""
    here = addresses.resource(uid, "access")
    plan = resource_edit.plan_edit(ctx, uid, _wanted(ctx, uid, sent))
    if plan.is_empty:
        return pages.go(request, here, Flash("Nothing was changed: it is so already.", tone="info"))
    before = _now(ctx, plan)
    asking = Asking(f"Change how {_name(ctx, uid)} is shared?", back=here, changes=_changes(ctx, plan, before))
    if question := ask_first(request, sent, asking, lambda: previewing.told(ctx, uid, plan.changes)):
        return question
    resource_edit.apply_edit_plan(ctx, plan)
    back = [*before, *((_SHOWN, name) for name in _names(plan))]
    undo = f"{here}/settings/undo?{urlencode(back)}" if _can_undo(ctx, uid, back) else ""
    return pages.go(request, here if ctx.session.can_see(ctx.asker, uid) else "/", Flash("Saved.", undo=undo))


@routes.post("/undo")
def undo_settings(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Set them as they were."""
    resource_edit.apply_edit(ctx, uid, _wanted(ctx, uid, request.query_params))
    return pages.go(request, addresses.resource(uid, "access"), Flash("It is as it was."))


def _can_undo(ctx: RequestContext, uid: str, back: list[tuple[str, str]]) -> bool:
    try:
        resource_edit.plan_edit(ctx, uid, _wanted(ctx, uid, ImmutableMultiDict(back)))
    except LakeholdError:
        return False
    return True


def _wanted(ctx: RequestContext, uid: str, sent: ImmutableMultiDict[str, Any]) -> ResourceEdit:
    ctx.need_visible(uid)
    schema = ctx.session.read_view(lambda view: kinds.schema_of(view, uid))
    attributes: dict[str, str | bool] = {}
    edges: dict[str, str | Sequence[str]] = {}
    for name in map(str, sent.getlist(_SHOWN)):
        values = [str(value) for value in sent.getlist(name) if value]
        if name in schema.attributes:
            off = "false" if schema.attributes[name].is_flag else schema.attributes[name].default
            attributes[name] = values[0] if values else off
        elif name in schema.edges:
            edges[name] = values
    return ResourceEdit(attributes=attributes, edges=edges)


def _names(plan: EditPlan) -> list[str]:
    return [*(plan.edit.attributes or {}), *(plan.edit.edges or {})]


def _now(ctx: RequestContext, plan: EditPlan) -> list[tuple[str, str]]:
    """What a form would send that leaves everything as it is."""
    values = ctx.session.read_view(lambda view: resource_view.attributes_of(view, plan.uid))
    ends = ctx.session.read_view(lambda view: resource_view.edges_of(view, plan.uid))
    eyes = VisibleRefs(ctx)
    kept = [(name, values[name]) for name in plan.edit.attributes or {}]
    return kept + [(name, end) for name in plan.edit.edges or {} for end in ends[name] if eyes.sees(end)]


def _changes(ctx: RequestContext, plan: EditPlan, before: list[tuple[str, str]]) -> list[Change]:
    wanted: Mapping[str, object] = {**(plan.edit.attributes or {}), **(plan.edit.edges or {})}
    found = []
    for name, value in wanted.items():
        was = [old for each, old in before if each == name]
        will = [str(value)] if isinstance(value, str | bool) else [str(each) for each in value]  # type: ignore[attr-defined]
        if sorted(was) != sorted(will):
            is_edge = name in (plan.edit.edges or {})
            found.append(Change(spoken(name), _words(ctx, was, is_edge=is_edge), _words(ctx, will, is_edge=is_edge)))
    return found


def _words(ctx: RequestContext, values: list[str], *, is_edge: bool) -> str | None:
    words = [_name(ctx, value) if is_edge else saying.value_of(value) for value in values]
    return ", ".join(words) or None


def _name(ctx: RequestContext, uid: str) -> str:
    return ctx.session.read_view(lambda view: saying.name_of(view, uid))
