"""The data of a lakehouse: layers with their tables and volumes, search, and deleted tables that can be restored."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.access import Draft
from lakehold.api.http.dependencies import FormContext, ReadContext, get_platform
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.catalog import kinds, resources
from lakehold.catalog.resource_view import ResourceSummary, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.kit.ids import fold_name, quote
from lakehold.lake import readable_tables, table_metadata
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.runs import queries
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.form_values import text_field
from lakehold.web.list_view import ListState
from lakehold.web.navigation import Breadcrumb
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router
from lakehold.workspaces.lakehouse import deleted_tables
from lakehold.workspaces.lakehouse.pages.page_frame import need_lakehouse
from lakehold.workspaces.registry import describe_kind

routes = router("/workspaces")

LAYER, TABLE, VOLUME = (f"lakehouse.{name}" for name in ("layer", "table", "volume"))
_PER_LAYER, _PAGE_SIZE, _MAX_LAYERS = 20, 50, 100
_MAX_OPEN_LAYERS, _MAX_MATCHES = 4, 100
"""The number of layers that are expanded, and of search results that are listed."""


DataItem = tuple[ResourceSummary, str, table_metadata.IcebergSnapshot | None]
"""A table or a volume, its address, and the current snapshot of a table that was written and that can be read."""


@dataclass(frozen=True, slots=True)
class LayerSection:
    """A layer with the first of its tables and volumes."""

    resource: ResourceSummary
    items: list[DataItem]
    query: str = ""
    """The query string of the list of all of it."""
    more: bool = False
    makes: Sequence[PageAction] = ()
    """The actions that create something in it, where it is empty."""
    opened: bool = True


@routes.get("/{uid:path}/data")
def browse(request: Request, ctx: ReadContext, lake: CurrentLake, uid: str) -> Response:
    """Render all layers with the first of their contents."""
    found = need_lakehouse(ctx, uid)
    listing = ListState.from_request(request, ("name",))
    layers = resources.find(ctx, among=[LAYER], within=uid, sort="created", limit=_MAX_LAYERS).items
    sections = _search_sections if listing.search else _layer_sections
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "Data"),
        "found": found,
        "listing": listing,
        "layers": sections(ctx, lake, uid, layers, listing.search),
        "new_layer": _create_action(ctx, LAYER, "lakehouse", uid, uid),
        "asks": queries.may_query(ctx, uid),
    }
    return pages.render(request, "lakehouse/data.html", values)


@routes.get("/{uid:path}/data/{layer:path}")
def browse_layer(request: Request, ctx: ReadContext, lake: CurrentLake, uid: str, layer: str) -> Response:
    """Render all tables and volumes of a layer."""
    space = need_lakehouse(ctx, uid)
    found = resources.get(ctx, layer)
    listing = ListState.from_request(request, ("name",), size=_PAGE_SIZE)
    if found.kind != LAYER or found.workspace is None or found.workspace.uid != space.uid:
        raise NotFoundError(f"There is no layer {quote(layer)}.", "Check the name in the list of layers.")
    some = resources.find(ctx, among=(TABLE, VOLUME), within=layer, **listing.query)
    values: dict[str, object] = {
        "crumbs": _crumbs(ctx, space.uid, found.name),
        "found": space,
        "layer": found,
        "listing": listing,
        "items": _items(ctx, lake, some.items),
        "after": some.after or "",
        "makes": _create_actions(ctx, space.uid, layer),
    }
    return pages.render(request, "lakehouse/layer.html", values)


def _crumbs(ctx: RequestContext, space: str, last: str) -> list[Breadcrumb]:
    above = resource_header.breadcrumbs(ctx, space, "Data")[:-1]
    return [*above, Breadcrumb("Data", urls.workspace(space, "data")), Breadcrumb(last)]


def _layer_sections(
    ctx: RequestContext, lake: IcebergCatalog, space: str, layers: Sequence[ResourceSummary], _search: str
) -> list[LayerSection]:
    """Return the layers; the first ones are open until there is enough to show."""
    sections: list[LayerSection] = []
    for n, each in enumerate(layers):
        opens = n < _MAX_OPEN_LAYERS and sum(len(shelf.items) for shelf in sections) < _PER_LAYER
        closed = LayerSection(each, [], opened=False)
        sections.append(_open_section(ctx, lake, space, each) if opens else closed)
    return sections


def _open_section(ctx: RequestContext, lake: IcebergCatalog, space: str, layer: ResourceSummary) -> LayerSection:
    tables = resources.find(ctx, among=[TABLE], within=layer.uid, limit=_PER_LAYER)
    volumes = resources.find(ctx, among=[VOLUME], within=layer.uid, limit=_PER_LAYER)
    items = _items(ctx, lake, [*tables.items, *volumes.items])
    more = tables.after is not None or volumes.after is not None
    makes = [] if items else _create_actions(ctx, space, layer.uid)
    return LayerSection(layer, items, more=more, makes=makes)


def _search_sections(
    ctx: RequestContext, lake: IcebergCatalog, space: str, layers: Sequence[ResourceSummary], search: str
) -> list[LayerSection]:
    """Return the matches by layer. A layer whose name matches is shown with its contents."""
    called = [each for each in layers if fold_name(search) in fold_name(each.name)]
    shelves = {each.uid: _open_section(ctx, lake, space, each) for each in called[:_MAX_OPEN_LAYERS]}
    some = resources.find(ctx, search, among=(TABLE, VOLUME), within=space, limit=_MAX_MATCHES)
    inside: dict[str, list[DataItem]] = {}
    for item in _items(ctx, lake, some.items):
        inside.setdefault(item[0].parent.uid if item[0].parent else "", []).append(item)
    query, more = f"?{urlencode({'q': search})}", some.after is not None
    for each in layers:
        if each.uid not in shelves and (each.uid in inside or each in called):
            items = inside.get(each.uid, [])
            shelves[each.uid] = LayerSection(each, items, query, more, opened=bool(items))
    return [shelves[each.uid] for each in layers if each.uid in shelves]


def _items(ctx: RequestContext, lake: IcebergCatalog, found: Sequence[ResourceSummary]) -> list[DataItem]:
    readable = [each.uid for each in found if each.kind == TABLE and "read" in each.actions]
    places = {uid: readable_tables.identifier_of(ctx, uid) for uid in readable}
    there = lake.metadata_locations(list(places.values())) if places else {}
    return [
        (each, _first_page_url(each), _current_snapshot(there.get(places[each.uid])) if each.uid in places else None)
        for each in found
    ]


def _first_page_url(resource: ResourceSummary) -> str:
    return urls.resource(resource.uid, next((page.part for page in describe_kind(resource.kind).pages), ""))


def _current_snapshot(location: str | None) -> table_metadata.IcebergSnapshot | None:
    try:
        return table_metadata.load_metadata(location).current if location else None
    except OSError:
        # Its files are missing.
        return None


def _create_actions(ctx: RequestContext, space: str, layer: str) -> list[PageAction]:
    return [_create_action(ctx, kind, "layer", layer, space) for kind in (TABLE, VOLUME)]


def _create_action(ctx: RequestContext, kind: str, edge: str, within: str, space: str) -> PageAction:
    """Return the action that creates a resource, with the reason if the caller may not."""
    title = kinds.catalog_kind(ctx.view.policy, kind).title.lower()
    form = kind_pages.create_form_url(space, kind) or f"/resources/new?{urlencode({'kind': kind, 'in': within})}"
    act = PageAction(f"New {title}", form, icon="plus")
    if ctx.session.check(ctx.principal, "create", Draft(kind, {edge: within})):
        return act
    return resource_header.refuse_action(ctx, within, f"create_{title}", act, exactly=False)


deleted_routes = router("/workspaces")


@deleted_routes.api_route("/{uid:path}/deleted", methods=FORM_METHODS)
def deleted_tables_page(
    request: Request, ctx: FormContext, lake: CurrentLake, uid: str, sent: SubmittedForm
) -> Response:
    """Show the deleted tables that the caller may restore; restore one, under its own name or another."""
    space, visible, wrong = need_lakehouse(ctx, uid), VisibleRefs(ctx), ("", "", "")
    if request.method == "POST":
        table, name = (text_field(sent, field).strip() for field in ("table", "name"))
        try:
            found = deleted_tables.restore_table(ctx, lake, table, name)
            edited = ", ".join(each.name for each in found.edited)
            note = f" Edited meanwhile, and not connected again: {edited}." if edited else ""
            return pages.redirect(request, urls.resource(table), f"{found.name} was restored.{note}")
        except (ConflictError, InvalidInputError) as error:
            wrong = (table, name, str(error))
    kept = get_platform(request).settings.dropped_days
    values: dict[str, object] = {
        "crumbs": _crumbs(ctx, uid, "Deleted tables"),
        "space": space,
        "days": kept,
        "retained": kept * DAY,
        "tables": [
            (each, layer, [(ref, role) for who, role in each.held if (ref := visible.ref(who))])
            for each in deleted_tables.list_restorable(ctx, lake, within=uid)
            if (layer := visible.ref(each.layer))
        ],
        "wrong": wrong,
    }
    return pages.render(request, "lakehouse/deleted.html", values, status=422 if wrong[2] else 200)
