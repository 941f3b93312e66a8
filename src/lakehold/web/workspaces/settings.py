"""How a workspace is set: name, description, what its model lets be switched, its labels, and its end."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.access import Add, Attribute, Draft
from lakehold.access.model.schema import AttributeKind as Declared
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import kinds, resource_edit, resources, workspaces
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_metadata import VersionConflictError
from lakehold.catalog.resource_view import ResourceRef, ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.web import addresses, pages, views
from lakehold.web.actions import Action
from lakehold.web.confirming import unsure
from lakehold.web.diffs import Change
from lakehold.web.effects import Asking, ask_first, preview
from lakehold.web.flashes import Flash
from lakehold.web.routes import Sent, router
from lakehold.web.words import spoken
from lakehold.web.workspaces import membership, plans, tabs, words
from lakehold.web.workspaces.members import trail

routes = router("/workspaces")

SWITCH = "switch_"
_MOST_LABELS = 200


@dataclass(frozen=True, slots=True)
class Switch:
    """An attribute of the workspace."""

    name: str
    title: str
    hint: str
    value: str
    is_flag: bool
    options: list[tuple[str, str]]
    may: bool


@dataclass(frozen=True, slots=True)
class Labels:
    """A kind of labels, those that there are, and whether the caller may make more."""

    kind: str
    title: str
    items: list[ResourceRef]
    may: bool


@routes.get("/{uid:path}/settings")
def settings_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """All of it; what the caller may not change is told, and why."""
    return _page(request, ctx, uid)


@routes.post("/{uid:path}/settings")
def save(request: Request, ctx: WriteContext, uid: str, sent: Sent) -> Response:
    """Another name or description, unless somebody else was first."""
    workspaces.need_workspace(ctx, uid)
    filled = {name: str(sent.get(name, "")).strip() for name in ("name", "description")}
    version = str(sent.get("version", ""))
    try:
        resource_edit.apply_edit(
            ctx,
            uid,
            ResourceEdit(name=filled["name"], description=filled["description"]),
            expect_version=int(version) if version.isdigit() else None,
        )
    except (InvalidInputError, ConflictError, VersionConflictError) as error:
        return _page(request, ctx, uid, filled=filled, errors={"name": str(error)})
    return pages.go(request, addresses.workspace(uid, "settings"), Flash("Saved."))


@routes.post("/{uid:path}/settings/switches")
def switch(request: Request, ctx: WriteContext, uid: str, sent: Sent) -> Response:
    """Show what the switches would do, then set them."""
    workspaces.need_workspace(ctx, uid)
    # One that is sent though it was not offered is refused, not left out.
    shown = _switches(ctx, resources.get(ctx, uid))
    found = [each for each in shown if each.may or SWITCH + each.name in sent]
    wanted = {each.name: _sent(each, sent) for each in found}
    plan = resource_edit.plan_edit(ctx, uid, ResourceEdit(attributes=wanted))
    there = addresses.workspace(uid, "settings")
    changes = [change for change in plan.changes if isinstance(change.fact, Attribute)]
    told = [Change(each.title, _said(each.value), _said(wanted[each.name])) for each in found]
    asking = Asking(
        f"Change how {resources.get(ctx, uid).name} works?",
        back=there,
        changes=[change for change in told if change.before != change.after],
    )
    if changes and (question := ask_first(request, sent, asking, lambda: preview(ctx, changes))):
        return question
    resource_edit.apply_edit_plan(ctx, plan)
    return pages.go(request, there, Flash("Saved."))


@routes.post("/{uid:path}/settings/labels")
def add_label(request: Request, ctx: WriteContext, uid: str, sent: Sent) -> Response:
    """Make a label of the workspace, such as a context."""
    workspaces.need_workspace(ctx, uid)
    kind, name = str(sent.get("kind", "")), str(sent.get("label_name", "")).strip()
    known = {each.id: each.parent for each in membership.label_kinds(ctx, uid) if each.parent}
    if kind not in known:
        raise InvalidInputError("There is no such label.", "Reload the page.")
    try:
        resources.create(ctx, kind, name, edges={known[kind]: uid})
    except InvalidInputError as error:
        return _page(request, ctx, uid, filled={"label_name": name}, errors={"label_name": str(error)})
    return pages.go(request, addresses.workspace(uid, "settings"), Flash(f"{name} was made."))


@routes.post("/{uid:path}/settings/delete")
def delete(request: Request, ctx: WriteContext, uid: str, sent: Sent) -> Response:
    """End it, if nothing lies in it any more."""
    workspaces.need_workspace(ctx, uid)
    name, there = resources.get(ctx, uid).name, addresses.workspace(uid, "settings")
    if asked := unsure(request, sent, f"Delete {name}?", "This cannot be taken back.", do="Delete", back=there):
        return asked
    try:
        resources.delete(ctx, uid)
    except ConflictError as error:
        return _page(request, ctx, uid, errors={"delete": str(error)})
    return pages.go(request, "/workspaces", Flash(f"{name} was deleted."))


def _page(
    request: Request,
    ctx: RequestContext,
    uid: str,
    *,
    filled: dict[str, str] | None = None,
    errors: dict[str, str] | None = None,
) -> Response:
    workspaces.need_workspace(ctx, uid)
    found = resources.get(ctx, uid)
    space = ResourceRef(found.uid, found.kind, found.name)
    kind = kinds.catalog_kind(ctx.view.policy, found.kind)
    filled = {"name": found.name, "description": found.description, "label_name": "", **(filled or {})}
    values: dict[str, object] = {
        "crumbs": trail(ctx, space, "Settings"),
        **tabs.shown(uid, found.kind, tabs.SETTINGS),
        "found": found,
        "beside": views.beside(uid, found.kind),
        "model": words.line_of(ctx.view.policy.models[kind.model]),
        "edit": _editing(ctx, uid),
        "filled": filled,
        "switches": _switches(ctx, found),
        "labels": [_labels(ctx, uid, each.id) for each in membership.label_kinds(ctx, uid)],
        "plan": plans.plan(ctx, kind),
        "delete": _delete_action(ctx, uid, found),
        "errors": errors or {},
    }
    return pages.page(request, "workspaces/settings.html", values, status=422 if errors else 200)


def _switches(ctx: RequestContext, found: ResourceView) -> list[Switch]:
    schema = kinds.catalog_kind(ctx.view.policy, found.kind)
    return [
        Switch(
            name,
            spoken(name),
            words.ATTRIBUTES.get(name, ""),
            found.attributes[name],
            declared.is_flag,
            [(value, spoken(value)) for value in declared.values],
            _may_switch(ctx, found.uid, declared),
        )
        for name, declared in schema.attributes.items()
        if name != kinds.DELETED
    ]


def _may_switch(ctx: RequestContext, uid: str, declared: Declared) -> bool:
    return all(
        ctx.session.check_change(ctx.asker, Add(Attribute(uid, declared.name, value))) for value in declared.values
    )


def _sent(each: Switch, sent: FormData) -> str:
    if each.is_flag:
        return "true" if sent.get(SWITCH + each.name) else "false"
    return str(sent.get(SWITCH + each.name, each.value))


def _said(value: str) -> str:
    return {"true": "On", "false": "Off"}.get(value, spoken(value))


def _labels(ctx: RequestContext, uid: str, kind: str) -> Labels:
    schema = kinds.catalog_kind(ctx.view.policy, kind)
    listed = ctx.session.list(ctx.asker, schema.visible, kind, within=uid, limit=_MOST_LABELS).items
    draft = Draft(kind, {schema.parent: uid} if schema.parent else {})
    may = ctx.session.check(ctx.asker, "create", draft)
    return Labels(kind, schema.title, [ResourceRef(item.uid, item.kind, item.name) for item in listed], may)


def _editing(ctx: RequestContext, uid: str) -> Action:
    right = ctx.session.read_view(lambda view: kinds.edit_right(view, uid))
    if kinds.has_right(ctx, right) or right is None:
        return Action("Edit")
    return Action(
        "Edit",
        why_not=f"You need the right to {spoken(right.action).lower()}.",
        request=addresses.request(right.resource, right.action),
    )


def _delete_action(ctx: RequestContext, uid: str, found: ResourceView) -> Action:
    there = addresses.workspace(uid, "settings/delete")
    if found.may_delete:
        return Action("Delete", there, "post", "trash-2", confirm=f"Delete {found.name}?", danger=True)
    right = ctx.session.read_view(lambda view: kinds.delete_right(view, uid))
    asked = addresses.request(right.resource, right.action) if right else ""
    return Action("Delete", icon="trash-2", why_not="You may not delete it.", request=asked)
