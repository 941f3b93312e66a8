"""The page of one resource."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.access.facts.view import FactView
from lakehold.access.model.schema import KindSchema
from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext
from lakehold.catalog import kinds, resources, usage
from lakehold.catalog.resource_view import ResourceRef, ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.web import addresses, pages, views
from lakehold.web.access import acting
from lakehold.web.actions import Action
from lakehold.web.routes import router
from lakehold.web.words import spoken

routes = router("/resources")

_MOST_INSIDE = 50
_MOST_USES = 8


@routes.get("/{uid:path}")
def resource_page(request: Request, ctx: ReadContext, platform: CurrentPlatform, uid: str) -> Response:
    """A resource, as the caller may see it."""
    found = resources.get(ctx, uid)
    schema = kinds.catalog_kind(ctx.view.policy, found.kind)
    if found.workspace and found.workspace.uid == uid:
        return pages.go(request, addresses.workspace(uid))
    if own := views.home(uid, found.kind):
        return pages.go(request, own)
    resource_usage.record(platform, ctx, schema.visible, uid)
    values: dict[str, object] = {
        "crumbs": acting.crumbs(ctx, uid),
        "found": found,
        "tabs": acting.tabs(ctx, uid),
        "deleted": found.attributes.get(kinds.DELETED) == "true",
        "menu": _menu(ctx, found, schema),
        "may": acting.actions_of(ctx, uid),
        "attributes": [(spoken(name), _told(schema, name, value)) for name, value in _shown(found).items()],
        "owners": [(schema.roles[role].title, held) for role, held in found.owners.items()],
        "edges": [(spoken(name), ends) for name, ends in found.edges.items() if ends],
        "inside": ctx.session.read_view(lambda view: _inside(ctx, view, uid)),
        "pointing": ctx.session.read_view(lambda view: _pointing(ctx, view, uid)),
        "uses": usage.list_for_resource(ctx, uid)[:_MOST_USES],
    }
    return pages.page(request, "resources/one.html", values)


def _shown(found: ResourceView) -> dict[str, str]:
    return {name: value for name, value in found.attributes.items() if name != kinds.DELETED}


def _told(schema: KindSchema, name: str, value: str) -> str:
    attribute = schema.attributes.get(name)
    if attribute is not None and attribute.is_flag:
        return "On" if value == "true" else "Off"
    return spoken(value)


def _menu(ctx: RequestContext, found: ResourceView, schema: KindSchema) -> list[Action]:
    """What can be done with the resource itself, whatever its model."""
    uid, here, ask = found.uid, addresses.resource, ctx.session.read_view
    edit = Action("Edit", here(uid, "edit"), icon="pencil")
    move = Action("Move", here(uid, "move"), icon="folder")
    delete = Action("Delete", here(uid, "delete"), "post", "trash-2", danger=True, confirm=f"Delete {found.name}?")
    movable = schema.parent is not None and schema.edges[schema.parent].set_with is not None
    return [
        acting.if_right(ctx, ask(lambda view: kinds.edit_right(view, uid)), edit),
        *([move] if movable else []),
        acting.if_right(ctx, ask(lambda view: kinds.delete_right(view, uid)), delete),
    ]


def _inside(ctx: RequestContext, view: FactView, uid: str) -> list[ResourceRef]:
    """What lies in it, of what the caller may see."""
    return _seen(ctx, view, view.children(view.resource(uid)))


def _pointing(ctx: RequestContext, view: FactView, uid: str) -> list[tuple[str, list[ResourceRef]]]:
    """What points at it and does not lie in it, by the kind."""
    here, found = view.resource(uid), []
    for kind in view.policy.kinds.values():
        for edge in kind.schema.edges:
            if edge == kind.schema.parent or kind.schema.model == "tenant":
                continue
            near = [each for each in view.edges_in[edge].get(here) or () if view.kind(each) == kind.id]
            if near and (seen := _seen(ctx, view, near)):
                found.append((kind.schema.title, seen))
    return found


def _seen(ctx: RequestContext, view: FactView, numbers: list[int]) -> list[ResourceRef]:
    eyes, found = VisibleRefs(ctx), []
    for number in sorted(numbers, key=lambda number: (view.names.get(number) or "").casefold()):
        ref = eyes.by_number(number)
        if ref is not None:
            found.append(ref)
        if len(found) == _MOST_INSIDE:
            break
    return found
