"""The tables of a storage, for those who may use it; and how one of them looks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.web import kind_pages, pages, urls
from lakehold.web.lakehouse.sources import looking
from lakehold.web.list_view import ListColumn, ListState
from lakehold.web.marts import framing
from lakehold.web.marts.looking import Looked, grid, look
from lakehold.web.marts.storages.routes import need_storage
from lakehold.web.routing import router
from lakehold.workspaces.marts import storages
from lakehold.workspaces.marts.definitions import DefinitionType
from lakehold.workspaces.marts.storages import StorageProbeTarget

routes = router("/resources")

_COLUMNS = [ListColumn("Name", "name"), ListColumn("Keys", wide=True)]


@routes.get("/{uid:path}/tables")
def tables_page(request: Request, uid: str, table: str = "") -> Response:
    """Those that the storage has, as they are found at this moment; or one of them, with its first rows."""
    reading = looking.reading(request)
    found = reading.run(lambda ctx: _need_use(ctx, uid))
    if table:
        looked = look(request, StorageProbeTarget(uid, by=DefinitionType.TABLE.value, text=table))
        return reading.run(lambda ctx: _one(request, ctx, found, table, looked))
    is_set = reading.run(lambda ctx: bool(storages.storage_settings(ctx, uid).raw.get("kind")))
    search = ListState.from_request(request, ("name",)).search
    listed = look(request, StorageProbeTarget(uid, search=search)) if is_set else None
    return reading.run(lambda ctx: _list(request, ctx, found, listed))


def _list(request: Request, ctx: RequestContext, found: ResourceView, looked: Looked | None) -> Response:
    listing = ListState.from_request(request, ("name",))
    rows = [each for each in (looked.seen.tables if looked else ()) if _fits(each, listing.search)]
    rows.sort(key=lambda each: str(each["name"]).casefold(), reverse=listing.descending)
    values: dict[str, object] = {
        **framing.frame(ctx, found, "tables"),
        "listing": listing,
        "columns": _COLUMNS,
        "rows": listing.slice_page(rows),
        "total": len(rows),
        "looked": looked,
        "at": lambda each: _at(found.uid, each),
        "new": lambda each: _new(found, each),
    }
    return pages.render(request, "marts/tables.html", values)


def _one(request: Request, ctx: RequestContext, found: ResourceView, table: str, looked: Looked) -> Response:
    values: dict[str, object] = {
        **framing.frame(ctx, found, "tables"),
        "table": table,
        "looked": looked,
        "grid": grid(looked.seen),
        "new": _new(found, {"name": table}),
    }
    return pages.render(request, "marts/table_look.html", values)


def _need_use(ctx: RequestContext, uid: str) -> ResourceView:
    found = need_storage(ctx, uid)
    ctx.need("use", uid)
    return found


def _fits(each: Mapping[str, Any], search: str) -> bool:
    return search.casefold() in str(each["name"]).casefold()


def _at(uid: str, each: Mapping[str, Any]) -> str:
    """Where a table is looked at: one of a lakehouse has pages of its own."""
    if each["uid"]:
        return urls.resource(str(each["uid"]), "sample")
    return f"{urls.resource(uid, 'tables')}?{urlencode({'table': each['name']})}"


def _new(found: ResourceView, each: Mapping[str, Any]) -> str:
    """Where a data mart is made of it."""
    within = found.workspace.uid if found.workspace else ""
    return f"{kind_pages.create_form_url(within, 'marts.data_mart')}?{urlencode({'storage': found.uid, 'table': each['name']})}"
