"""The page of one resource."""

from itertools import islice

from fastapi import Request, Response

from lakehold.access.facts.view import FactView
from lakehold.access.model.schema import KindSchema
from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext
from lakehold.catalog import kinds, resources, usage
from lakehold.catalog.resource_view import ResourceRef, ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.routing import router

routes = router("/resources")

_MAX_CHILDREN = 50
_MAX_USES = 8


@routes.get("/{uid:path}")
def resource_page(request: Request, ctx: ReadContext, platform: CurrentPlatform, uid: str) -> Response:
    """Render the page of a resource as the caller may see it."""
    found = resources.get(ctx, uid)
    schema = kinds.catalog_kind(ctx.view.policy, found.kind)
    if found.workspace and found.workspace.uid == uid:
        return pages.redirect(request, urls.workspace(uid))
    if own := kind_pages.resource_overview_url(uid, found.kind):
        return pages.redirect(request, own)
    resource_usage.record(platform, ctx, schema.visible, uid)
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid),
        "found": found,
        "tabs": resource_header.tabs(ctx, uid),
        "menu": _menu_actions(ctx, found, schema),
        "may": resource_header.actions_of(ctx, uid),
        "schema": schema,
        "inside": ctx.session.read_view(lambda view: _visible_refs(ctx, view, view.children(view.resource(uid)))),
        "pointing": ctx.session.read_view(lambda view: _referrers(ctx, view, uid)),
        "uses": usage.list_for_resource(ctx, uid)[:_MAX_USES],
    }
    return pages.render(request, "resources/one.html", values)


def _menu_actions(ctx: RequestContext, found: ResourceView, schema: KindSchema) -> list[PageAction]:
    """Return the actions that every resource has, whatever its model."""
    uid, here, ask = found.uid, urls.resource, ctx.session.read_view
    edit = PageAction("Edit", here(uid, "edit"), icon="pencil")
    move = PageAction("Move", here(uid, "move"), icon="folder")
    delete = PageAction("Delete", here(uid, "delete"), "post", "trash-2", danger=True, confirm=f"Delete {found.name}?")
    movable = schema.parent is not None and schema.edges[schema.parent].set_with is not None
    return [
        resource_header.check_right(ctx, ask(lambda view: kinds.edit_right(view, uid)), edit),
        *([move] if movable else []),
        resource_header.check_right(ctx, ask(lambda view: kinds.delete_right(view, uid)), delete),
    ]


def _referrers(ctx: RequestContext, view: FactView, uid: str) -> list[tuple[str, list[ResourceRef]]]:
    """Return the visible resources that point at this one and are not its children, by kind."""
    here, found = view.resource(uid), []
    for kind in view.policy.kinds.values():
        for edge in kind.schema.edges:
            if edge == kind.schema.parent or kind.schema.model == "tenant":
                continue
            near = [each for each in view.edges_in[edge].get(here) or () if view.kind(each) == kind.id]
            if near and (seen := _visible_refs(ctx, view, near)):
                found.append((kind.schema.title, seen))
    return found


def _visible_refs(ctx: RequestContext, view: FactView, numbers: list[int]) -> list[ResourceRef]:
    """Return the first of these resources, by name, that the caller may see."""
    visible = VisibleRefs(ctx)
    ordered = sorted(numbers, key=lambda number: (view.names.get(number) or "").casefold())
    return list(islice(filter(None, map(visible.by_number, ordered)), _MAX_CHILDREN))
