"""The settings of a workspace: name, description, attributes, labels, the tenant's plan, and its deletion."""

from collections.abc import Sequence

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.access import Add, Attribute, Draft
from lakehold.access.facts.descriptions import describe_value
from lakehold.access.model.policy import TENANT
from lakehold.access.model.schema import KindSchema
from lakehold.access.query.listing import ListedResource
from lakehold.api.http.dependencies import FormContext, WriteContext
from lakehold.catalog import kinds, resource_edit, resources, workspaces
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_metadata import VersionConflictError
from lakehold.catalog.resource_view import ResourceView, attributes_of
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.web import kind_pages, pages, urls
from lakehold.web.components import AttributeField, FieldChange
from lakehold.web.confirmation import ConfirmationPrompt, need_confirmation, need_confirmed_effects, preview_effects
from lakehold.web.form_values import parse_integer, text_field
from lakehold.web.labels import humanize
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router
from lakehold.web.workspaces import membership, workspace_list
from lakehold.web.workspaces.workspace_list import SWITCH_PREFIX

routes = router("/workspaces")

PLAN = "plan"


@routes.api_route("/{uid:path}/settings", methods=FORM_METHODS)
def settings_page(request: Request, ctx: FormContext, uid: str, sent: SubmittedForm) -> Response:
    """Show the settings; save the name and description, unless somebody else changed them meanwhile."""
    if request.method == "GET":
        return _render_settings(request, ctx, uid)
    workspaces.need_workspace(ctx, uid)
    filled = {name: str(sent.get(name, "")).strip() for name in ("name", "description")}
    try:
        version = parse_integer(text_field(sent, "version"))
        resource_edit.apply_edit(ctx, uid, ResourceEdit(filled["name"], filled["description"]), expect_version=version)
    except (InvalidInputError, ConflictError, VersionConflictError) as error:
        return _render_settings(request, ctx, uid, filled=filled, errors={"name": str(error)})
    return pages.redirect(request, urls.workspace(uid, "settings"), "Saved.")


@routes.post("/{uid:path}/settings/switches")
def switch(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Save the attributes after their effect is confirmed."""
    workspaces.need_workspace(ctx, uid)
    # One that is sent though it was not offered is refused, not left out.
    switches = _switches(ctx, resources.get(ctx, uid))
    found = [each for each in switches if each.may or SWITCH_PREFIX + each.name in sent]
    new_values = {each.name: _sent_value(each, sent) for each in found}
    plan = resource_edit.plan_edit(ctx, uid, ResourceEdit(attributes=new_values))
    there = urls.workspace(uid, "settings")
    changes = [change for change in plan.changes if isinstance(change.fact, Attribute)]
    field_changes = [
        FieldChange(each.title, *(describe_value(value).capitalize() for value in (each.value, new_values[each.name])))
        for each in found
    ]
    prompt = ConfirmationPrompt(
        f"Change the options of {resources.get(ctx, uid).name}?",
        changes=[change for change in field_changes if change.before != change.after],
    )
    if changes:
        need_confirmed_effects(request, sent, prompt, lambda: preview_effects(ctx, changes))
    resource_edit.apply_edit_plan(ctx, plan)
    return pages.redirect(request, there, "Saved.")


@routes.post("/{uid:path}/settings/labels")
def add_label(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Create a label of the workspace, such as a context."""
    workspaces.need_workspace(ctx, uid)
    kind, name = str(sent.get("kind", "")), str(sent.get("label_name", "")).strip()
    known = {each.id: each.parent for each in membership.label_kinds(ctx, uid) if each.parent}
    if kind not in known:
        raise InvalidInputError("There is no such label.", "Reload the page.")
    try:
        resources.create(ctx, kind, name, edges={known[kind]: uid})
    except InvalidInputError as error:
        return _render_settings(request, ctx, uid, filled={"label_name": name}, errors={"label_name": str(error)})
    return pages.redirect(request, urls.workspace(uid, "settings"), f"{name} was created.")


@routes.post("/{uid:path}/settings/delete")
def delete(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Delete the workspace if it is empty."""
    workspaces.need_workspace(ctx, uid)
    name, there = resources.get(ctx, uid).name, urls.workspace(uid, "settings")
    need_confirmation(request, sent, f"Delete {name}?", "This cannot be undone.", do="Delete", back=there)
    try:
        resources.delete(ctx, uid)
    except ConflictError as error:
        return _render_settings(request, ctx, uid, errors={"delete": str(error)})
    return pages.redirect(request, "/workspaces", f"{name} was deleted.")


def _render_settings(
    request: Request,
    ctx: RequestContext,
    uid: str,
    *,
    filled: dict[str, str] | None = None,
    errors: dict[str, str] | None = None,
) -> Response:
    workspaces.need_workspace(ctx, uid)
    found = resources.get(ctx, uid)
    kind = kinds.catalog_kind(ctx.view.policy, found.kind)
    filled = {"name": found.name, "description": found.description, "label_name": "", **(filled or {})}
    values: dict[str, object] = {
        **kind_pages.workspace_tab_values(uid, found.kind, kind_pages.SETTINGS_TAB),
        "found": found,
        "beside": kind_pages.extra_workspace_tabs(uid, found.kind),
        "model": workspace_list.describe_model(ctx.view.policy.models[kind.model]),
        "edit_right": ctx.session.read_view(lambda view: kinds.edit_right(view, uid)),
        "filled": filled,
        "switches": _switches(ctx, found),
        "labels": [_label_group(ctx, uid, each) for each in membership.label_kinds(ctx, uid)],
        "plan": load_plan(ctx, kind),
        "delete_right": ctx.session.read_view(lambda view: kinds.delete_right(view, uid)),
    }
    return pages.render_form(request, "workspaces/settings.html", values, errors)


def _switches(ctx: RequestContext, found: ResourceView) -> list[AttributeField]:
    hint = workspace_list.attribute_hint
    return [
        membership.attribute_field(ctx, found.uid, declared, found.attributes[name], hint=hint(name))
        for name, declared in kinds.catalog_kind(ctx.view.policy, found.kind).attributes.items()
        if name != kinds.DELETED
    ]


def _sent_value(each: AttributeField, sent: FormData) -> str:
    if each.is_flag:
        return "true" if sent.get(SWITCH_PREFIX + each.name) else "false"
    return str(sent.get(SWITCH_PREFIX + each.name, each.value))


def _label_group(ctx: RequestContext, uid: str, kind: KindSchema) -> tuple[KindSchema, Sequence[ListedResource], bool]:
    """Return a kind of labels with all of them, and whether the caller may create more."""
    draft = Draft(kind.id, {kind.parent: uid} if kind.parent else {})
    return kind, membership.list_labels(ctx, uid, kind), ctx.session.check(ctx.principal, "create", draft)


def load_plan(ctx: RequestContext, kind: KindSchema) -> AttributeField | None:
    """Load the tenant's plan; None for a model that does not read it."""
    declared = ctx.view.policy.kind(TENANT).schema.attributes.get(PLAN)
    if declared is None or not any(f"tenant.{PLAN}" in clause.text for clause in kind.define.values()):
        return None
    current = attributes_of(ctx.view, ctx.caller.tenant)[PLAN]
    return membership.attribute_field(ctx, ctx.caller.tenant, declared, current)


@routes.post("/{uid:path}/settings/plan")
def set_plan(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Set the plan after its effect is confirmed."""
    workspaces.need_workspace(ctx, uid)
    new_plan, there = str(sent.get(PLAN, "")), urls.workspace(uid, "settings")
    present = attributes_of(ctx.view, ctx.caller.tenant)[PLAN]
    declared = ctx.view.policy.kind(TENANT).schema.attributes[PLAN]
    if new_plan not in declared.values:
        raise InvalidInputError("There is no such plan.", "Select one from the list.")
    change = Add(Attribute(ctx.caller.tenant, PLAN, new_plan))
    ctx.need_change(change)
    prompt = ConfirmationPrompt(
        f"Change the plan to {humanize(new_plan)}?",
        "Applies to the whole tenant.",
        changes=[FieldChange("Plan", humanize(present), humanize(new_plan))],
    )
    need_confirmed_effects(request, sent, prompt, lambda: preview_effects(ctx, [change]))
    ctx.make(change)
    return pages.redirect(request, there, f"The plan was changed to {humanize(new_plan)}.")
