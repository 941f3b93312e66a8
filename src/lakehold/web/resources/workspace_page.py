"""The page of a workspace, and the lists of the resources in it by kind."""

from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.access import Draft
from lakehold.access.model.schema import KindSchema
from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import kinds, resources, workspaces
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.labels import pluralize
from lakehold.web.list_view import ListState
from lakehold.web.navigation_context import listed_kinds
from lakehold.web.routing import router
from lakehold.workspaces.registry import describe_kind

routes = router("/workspaces")

_MAX_ITEMS = 5


@routes.get("/{uid:path}/{kind}")
def list_of_kind(request: Request, ctx: ReadContext, uid: str, kind: str) -> Response:
    """Render the list of all resources of one kind in a workspace."""
    schema = _kind_of(ctx, uid, kind)
    if schema is None:
        return workspace_page(request, ctx, f"{uid}/{kind}")
    listing = ListState.from_request(request, ("name", "created"))
    found = resources.find(ctx, among=[schema.id], within=uid, **listing.query)
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, pluralize(schema.title)),
        "schema": schema,
        "new": create_action(ctx, schema, uid),
        "listing": listing,
        "found": found,
    }
    return pages.render(request, "resources/kind.html", values)


@routes.get("/{uid:path}")
def workspace_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the overview of a workspace."""
    workspaces.need_workspace(ctx, uid)
    found = resources.get(ctx, uid)
    schema = kinds.catalog_kind(ctx.view.policy, found.kind)
    if own_part := describe_kind(found.kind).overview:
        return pages.redirect(request, urls.workspace(uid, own_part))
    listed = listed_kinds(ctx, schema)
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid),
        "found": found,
        **kind_pages.workspace_tab_values(uid, found.kind),
        "places": kind_pages.workspace_links(uid, schema.id),
        "shelves": [(kind, resources.find(ctx, among=[kind.id], within=uid, limit=_MAX_ITEMS)) for kind in listed],
        "makes": [create_action(ctx, kind, uid) for kind in listed if kind.create is not None],
    }
    return pages.render(request, "resources/workspace.html", values)


def create_action(ctx: RequestContext, kind: KindSchema, uid: str) -> PageAction:
    """Return the action that creates a resource of the kind in the workspace, refused if that is certain beforehand."""
    href = kind_pages.create_form_url(uid, kind.id) or f"/resources/new?{urlencode({'kind': kind.id, 'in': uid})}"
    label = f"New {kind.title.lower()}"
    if kind.create is None:
        return PageAction(label, icon="plus", why_not=f"A {kind.title.lower()} is created automatically.")
    if describe_kind(kind.id).is_trigger:
        why_not = "A trigger is created with its schedule, on the page of what it runs."
        return PageAction(label, icon="plus", why_not=why_not)
    if elsewhere := describe_kind(kind.id).created_elsewhere:
        return PageAction(label, icon="plus", why_not=elsewhere)
    why_not = "" if _may_create(ctx, kind, uid) else "You do not have permission to create one."
    return PageAction(label, href, icon="plus", why_not=why_not)


def _may_create(ctx: RequestContext, kind: KindSchema, uid: str) -> bool:
    """Whether the caller may create one, as far as can be decided before the form is filled in."""
    parent = kind.edges[kind.parent] if kind.parent else None
    here = kinds.schema_of(ctx.view, uid).name
    if kind.parent is None or parent is None or here not in parent.to:
        return True
    try:
        may = ctx.session.check(ctx.principal, "create", Draft(kind.id, {kind.parent: uid}))
    except LakeholdError:
        return True
    return may or len(kind.edges) > 1


def _kind_of(ctx: RequestContext, uid: str, name: str) -> KindSchema | None:
    """Return the kind of this name in the workspace; None if both are parts of a workspace id with a slash."""
    try:
        workspaces.need_workspace(ctx, uid)
    except LakeholdError:
        return None
    root = kinds.schema_of(ctx.view, uid)
    return next((kind for kind in listed_kinds(ctx, root) if kind.name == name), None)
