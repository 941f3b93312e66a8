"""All that a lakehouse holds, layer by layer: its tables and volumes, to look through and to search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from fastapi import Request, Response

from lakehold.access import Draft
from lakehold.api.http.dependencies import ReadContext
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.catalog import kinds, resources
from lakehold.catalog.resource_view import ResourceRef, ResourceSummary
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment, to_moment
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import fold_name
from lakehold.kit.ids import quote as quote_text
from lakehold.lake import readable_tables, table_metadata
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.lakehouse import saying
from lakehold.web.lakehouse.frames import need_lakehouse
from lakehold.web.list_view import ListColumn, ListState
from lakehold.web.navigation import Breadcrumb
from lakehold.web.routing import router

routes = router("/workspaces")

LAYER, TABLE, VOLUME = (f"lakehouse.{name}" for name in ("layer", "table", "volume"))
_IN_A_LAYER, _ON_A_PAGE, _MOST_LAYERS = 20, 50, 100
_OPENED, _FOUND = 4, 100
"""So many layers show what lies in them, the others where it is; and so much is shown of what was searched for."""
_COLUMNS = [
    ListColumn("Name", "name"),
    ListColumn("Rows", number=True),
    ListColumn("Size", number=True, wide=True),
    ListColumn("Last written", wide=True),
]


@dataclass(frozen=True, slots=True)
class Item:
    """A table or a volume, and what is known of its rows."""

    thing: ResourceSummary
    href: str
    rows: int | None = None
    size: str = ""
    written: Moment | None = None


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer, and the first of what lies in it."""

    thing: ResourceSummary
    items: list[Item]
    all: str
    """Where all of it is."""
    more: bool = False
    makes: Sequence[PageAction] = ()
    """What can be made in it, where it is empty."""
    opened: bool = True


@routes.get("/{uid:path}/data")
def browse(request: Request, ctx: ReadContext, lake: CurrentLake, uid: str) -> Response:
    """All layers, with the first of what lies in each."""
    found = need_lakehouse(ctx, uid)
    listing = ListState.from_request(request, ("name",))
    layers = resources.page(ctx, LAYER, within=uid, sort="created", limit=_MOST_LAYERS).items
    shelves = _found(ctx, lake, uid, layers, listing.search) if listing.search else _shelves(ctx, lake, uid, layers)
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "Data"),
        "found": found,
        "listing": listing,
        "layers": shelves,
        "new_layer": _making(ctx, LAYER, "lakehouse", uid, uid),
        "asks": ctx.session.check(ctx.asker, "execute_query", uid),
    }
    return pages.render(request, "lakehouse/data.html", values)


@routes.get("/{uid:path}/data/{layer:path}")
def browse_layer(request: Request, ctx: ReadContext, lake: CurrentLake, uid: str, layer: str) -> Response:
    """All of one layer."""
    space = need_lakehouse(ctx, uid)
    found = resources.get(ctx, layer)
    listing = ListState.from_request(request, ("name",), size=_ON_A_PAGE)
    if found.kind != LAYER or found.workspace is None or found.workspace.uid != space.uid:
        raise NotFoundError(f"There is no layer {quote_text(layer)}.", "Look its name up among the layers.")
    some = resources.find(
        ctx,
        listing.search,
        among=(TABLE, VOLUME),
        within=layer,
        sort="-name" if listing.descending else "name",
        after=listing.after or None,
        limit=_ON_A_PAGE,
    )
    values: dict[str, object] = {
        "crumbs": [*resource_header.breadcrumbs(ctx, space.uid, "Data")[:-1], *_data_crumbs(space, found.name)],
        "found": space,
        "layer": found,
        "listing": listing,
        "columns": _COLUMNS,
        "items": _items(ctx, lake, some.items),
        "after": some.after or "",
        "makes": _makes(ctx, space.uid, layer),
    }
    return pages.render(request, "lakehouse/layer.html", values)


def _data_crumbs(space: ResourceRef, name: str) -> list[Breadcrumb]:
    return [Breadcrumb("Data", urls.workspace(space.uid, "data")), Breadcrumb(name)]


def _shelves(ctx: RequestContext, lake: IcebergCatalog, space: str, layers: Sequence[ResourceSummary]) -> list[Layer]:
    """Some are opened, until there is enough to look at."""
    made: list[Layer] = []
    for n, each in enumerate(layers):
        opens = n < _OPENED and sum(len(shelf.items) for shelf in made) < _IN_A_LAYER
        closed = Layer(each, [], _all_of(space, each.uid, ""), opened=False)
        made.append(_shelf(ctx, lake, space, each) if opens else closed)
    return made


def _shelf(ctx: RequestContext, lake: IcebergCatalog, space: str, layer: ResourceSummary) -> Layer:
    tables = resources.page(ctx, TABLE, within=layer.uid, limit=_IN_A_LAYER)
    volumes = resources.page(ctx, VOLUME, within=layer.uid, limit=_IN_A_LAYER)
    items = _items(ctx, lake, [*tables.items, *volumes.items])
    more = tables.after is not None or volumes.after is not None
    makes = [] if items else _makes(ctx, space, layer.uid)
    return Layer(layer, items, _all_of(space, layer.uid, ""), more, makes)


def _found(
    ctx: RequestContext, lake: IcebergCatalog, space: str, layers: Sequence[ResourceSummary], search: str
) -> list[Layer]:
    """What was searched for, layer by layer. Who searches for a layer wants to see what is in it."""
    called = [each for each in layers if fold_name(search) in fold_name(each.name)]
    shelves = {each.uid: _shelf(ctx, lake, space, each) for each in called[:_OPENED]}
    some = resources.find(ctx, search, among=(TABLE, VOLUME), within=space, limit=_FOUND)
    inside: dict[str, list[Item]] = {}
    for item in _items(ctx, lake, some.items):
        inside.setdefault(item.thing.parent.uid if item.thing.parent else "", []).append(item)
    for each in layers:
        if each.uid not in shelves and (each.uid in inside or each in called):
            items = inside.get(each.uid, [])
            more = some.after is not None
            shelves[each.uid] = Layer(each, items, _all_of(space, each.uid, search), more, opened=bool(items))
    return [shelves[each.uid] for each in layers if each.uid in shelves]


def _all_of(space: str, layer: str, search: str) -> str:
    asked = f"?{urlencode({'q': search})}" if search else ""
    return urls.workspace(space, f"data/{quote(layer, safe='')}") + asked


def _items(ctx: RequestContext, lake: IcebergCatalog, found: Iterable[ResourceSummary]) -> list[Item]:
    things = list(found)
    places = {each.uid: readable_tables.identifier_of(ctx, each.uid) for each in things if "read" in each.actions}
    tables = {each.uid for each in things if each.kind == TABLE} & set(places)
    there = lake.metadata_locations([places[uid] for uid in tables]) if tables else {}
    return [_item(each, there.get(places[each.uid]) if each.uid in tables else None) for each in things]


def _item(thing: ResourceSummary, location: str | None) -> Item:
    part = kind_pages.RESOURCE_PAGES[thing.kind][0].part if thing.kind in kind_pages.RESOURCE_PAGES else ""
    href = urls.resource(thing.uid, part)
    now = _current(location) if location else None
    if now is None:
        return Item(thing, href)
    return Item(thing, href, now.count("total-records"), saying.size(now.count("total-files-size")), to_moment(now.at))


def _current(location: str) -> table_metadata.IcebergSnapshot | None:
    """The table as it is; None if its files are missing: the list goes on without."""
    try:
        return table_metadata.load_metadata(location).current
    except OSError:
        return None


def _makes(ctx: RequestContext, space: str, layer: str) -> list[PageAction]:
    return [_making(ctx, kind, "layer", layer, space) for kind in (TABLE, VOLUME)]


def _making(ctx: RequestContext, kind: str, edge: str, within: str, space: str) -> PageAction:
    """Make one there, or why the caller may not."""
    title = kinds.catalog_kind(ctx.view.policy, kind).title.lower()
    form = kind_pages.create_form_url(space, kind) or f"/resources/new?{urlencode({'kind': kind, 'in': within})}"
    act = PageAction(f"New {title}", form, icon="plus")
    if ctx.session.check(ctx.asker, "create", Draft(kind, {edge: within})):
        return act
    return resource_header.refuse_action(ctx, within, f"create_{title}", act, exactly=False)
