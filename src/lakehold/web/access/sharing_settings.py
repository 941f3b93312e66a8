"""Changes the attributes and edges by which a resource is shared."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response
from starlette.datastructures import ImmutableMultiDict

from lakehold.access.facts.descriptions import describe_value
from lakehold.api.http.dependencies import WriteContext
from lakehold.catalog import kinds, resource_edit, resource_view
from lakehold.catalog.resource_edit import EditPlan, ResourceEdit
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError
from lakehold.web import pages, urls
from lakehold.web.access import fact_labels, resource_header
from lakehold.web.components import FieldChange
from lakehold.web.confirmation import ConfirmationPrompt, need_confirmed_effects, preview_effects
from lakehold.web.cookies import Flash
from lakehold.web.labels import humanize
from lakehold.web.routing import SubmittedForm, router

routes = router("/resources/{uid:path}/access/settings")

_FORM_FIELDS = "shown"
"""Names the settings that a form had: a switch that is off sends nothing."""


@routes.post("")
def save_settings(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Save all settings of the form after their effect is confirmed."""
    here = urls.resource(uid, "access")
    plan = resource_edit.plan_edit(ctx, uid, _parse_edit(ctx, uid, sent))
    if plan.is_empty:
        return pages.redirect(request, here, Flash("No changes.", tone="info"))
    before = _current_values(ctx, plan)
    question = f"Change sharing of {fact_labels.resource_name(ctx, uid)}?"
    prompt = ConfirmationPrompt(question, changes=_field_changes(ctx, plan, before))
    need_confirmed_effects(request, sent, prompt, lambda: preview_effects(ctx, plan.changes, uid))
    resource_edit.apply_edit_plan(ctx, plan)
    back = [*before, *((_FORM_FIELDS, name) for name in (*(plan.edit.attributes or {}), *(plan.edit.edges or {})))]
    undo = f"{here}/settings/undo?{urlencode(back)}" if _can_undo(ctx, uid, back) else ""
    return pages.redirect(request, resource_header.url_if_visible(ctx, uid, "access"), Flash("Saved.", undo=undo))


@routes.post("/undo")
def undo_settings(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Restore the previous settings."""
    resource_edit.apply_edit(ctx, uid, _parse_edit(ctx, uid, request.query_params))
    return pages.redirect(request, urls.resource(uid, "access"), "Undone.")


def _can_undo(ctx: RequestContext, uid: str, back: list[tuple[str, str]]) -> bool:
    try:
        resource_edit.plan_edit(ctx, uid, _parse_edit(ctx, uid, ImmutableMultiDict(back)))
    except LakeholdError:
        return False
    return True


def _parse_edit(ctx: RequestContext, uid: str, sent: ImmutableMultiDict[str, Any]) -> ResourceEdit:
    ctx.need_visible(uid)
    schema = ctx.session.read_view(lambda view: kinds.schema_of(view, uid))
    attributes: dict[str, str | bool] = {}
    edges: dict[str, str | Sequence[str]] = {}
    for name in map(str, sent.getlist(_FORM_FIELDS)):
        values = [str(value) for value in sent.getlist(name) if value]
        if name in schema.attributes:
            off = "false" if schema.attributes[name].is_flag else schema.attributes[name].default
            attributes[name] = values[0] if values else off
        elif name in schema.edges:
            edges[name] = values
    return ResourceEdit(attributes=attributes, edges=edges)


def _current_values(ctx: RequestContext, plan: EditPlan) -> list[tuple[str, str]]:
    """Return the form fields that describe the present settings."""
    values = ctx.session.read_view(lambda view: resource_view.attributes_of(view, plan.uid))
    ends = ctx.session.read_view(lambda view: resource_view.edges_of(view, plan.uid))
    visible = VisibleRefs(ctx)
    kept = [(name, values[name]) for name in plan.edit.attributes or {}]
    return kept + [(name, end) for name in plan.edit.edges or {} for end in ends[name] if visible.sees(end)]


def _field_changes(ctx: RequestContext, plan: EditPlan, before: list[tuple[str, str]]) -> list[FieldChange]:
    new_values: Mapping[str, object] = {**(plan.edit.attributes or {}), **(plan.edit.edges or {})}
    found = []
    for name, value in new_values.items():
        was = [old for each, old in before if each == name]
        will = [str(value)] if isinstance(value, str | bool) else [str(each) for each in value]  # type: ignore[attr-defined]
        if sorted(was) != sorted(will):
            is_edge = name in (plan.edit.edges or {})
            label = partial(fact_labels.resource_name, ctx) if is_edge else describe_value
            texts = (", ".join(label(value) for value in values) or None for values in (was, will))
            found.append(FieldChange(humanize(name), *texts))
    return found
