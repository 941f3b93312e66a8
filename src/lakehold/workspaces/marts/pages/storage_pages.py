"""The page of a storage (settings, connection test, data marts), and its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, read_transaction
from lakehold.catalog import credentials, kinds, resource_metadata
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.list_view import ListColumn, ListState
from lakehold.web.routing import router
from lakehold.workspaces.marts import storages
from lakehold.workspaces.marts.mart_kinds import STORAGE_KIND
from lakehold.workspaces.marts.pages import page_frame
from lakehold.workspaces.marts.pages.storage_form import StorageFormPage
from lakehold.workspaces.marts.pages.storage_probe import StorageProbe, probe_grid, probe_storage
from lakehold.workspaces.marts.settings import DefinitionType, StorageType
from lakehold.workspaces.marts.storages import StorageProbeTarget

routes = router("/resources")

_DESIGN = StorageFormPage.design


@routes.get("/{uid:path}/storage")
def storage_page(request: Request, ctx: ReadContext, platform: CurrentPlatform, uid: str) -> Response:
    """Render the page of a storage."""
    found = page_frame.need_kind(ctx, uid, STORAGE_KIND)
    resource_usage.record(platform, ctx, kinds.catalog_kind(ctx.view.policy, found.kind).visible, uid)
    return _page(request, ctx, found)


@routes.post("/{uid:path}/storage/test")
def test(request: Request, uid: str) -> Response:
    """Test the connection and render the result."""
    reading = read_transaction(request)
    found = reading.run(lambda ctx: page_frame.need_kind(ctx, uid, STORAGE_KIND))
    looked = probe_storage(request, StorageProbeTarget(uid))
    return reading.run(lambda ctx: _page(request, ctx, found, looked))


def _page(request: Request, ctx: RequestContext, found: ResourceView, looked: StorageProbe | None = None) -> Response:
    settings, uid = resource_metadata.load(ctx, found.uid).settings, found.uid
    kind = str(settings.get("kind", ""))
    marts, more = storages.marts_of(ctx, uid)
    (set_up,) = resource_header.actions_of(
        ctx, uid, {"edit": PageAction("Set up", kind_pages.edit_form_url(uid, found.kind), icon="pencil")}
    )
    values: dict[str, object] = {
        **page_frame.resource_frame(ctx, found, "storage"),
        "kind": kind,
        "kind_said": _DESIGN.types[kind].label if kind in _DESIGN.types else "",
        "facts": None if found.settings is None else _setting_facts(ctx, found),
        "set_up": set_up,
        "acts": _storage_actions(ctx, found, kind),
        "looked": looked,
        "marts": marts,
        "more_marts": more,
        "new_mart": _new_mart_url(found),
        "may": resource_header.actions_of(ctx, uid),
    }
    return pages.render(request, "marts/storage.html", values, status=422 if looked and looked.error else 200)


def _setting_facts(ctx: RequestContext, found: ResourceView) -> list[tuple[str, str]]:
    """Return the settings as pairs of label and value, without secrets."""
    filled = _DESIGN.from_resource(found)
    match filled.word:
        case "lake":
            lakehouse = VisibleRefs(ctx).ref(filled.text("lakehouse"))
            return [("Lakehouse", lakehouse.name if lakehouse else "Not visible to you")]
        case "files":
            return [("Folder", filled.text("folder") or "Top folder")]
        case _:
            return filled.describe(credentials.list_names(ctx, found.uid))


def _storage_actions(ctx: RequestContext, found: ResourceView, kind: str) -> list[PageAction]:
    if not kind:
        return []
    tested = PageAction("Test connection", urls.resource(found.uid, "storage/test"), "post", "zap")
    copied = [page_frame.copy_credentials_action(ctx, found.uid)] if kind == StorageType.DATABASE else []
    return [*copied, *resource_header.actions_of(ctx, found.uid, {"use": tested})]


def _new_mart_url(found: ResourceView) -> str:
    """Return the address of the form for a new data mart, or an empty string if the caller may not use the storage."""
    if "use" not in found.actions or found.workspace is None:
        return ""
    return f"{kind_pages.create_form_url(found.workspace.uid, 'marts.data_mart')}?storage={found.uid}"


table_routes = router("/resources")

_TABLE_COLUMNS = [ListColumn("Name", "name"), ListColumn("Keys", wide=True)]


@table_routes.get("/{uid:path}/tables")
def tables_page(request: Request, uid: str, table: str = "") -> Response:
    """Render the tables that a worker finds in the storage, or the first rows of one."""
    reading = read_transaction(request)
    found = reading.run(lambda ctx: _need_use(ctx, uid))
    if table:
        looked = probe_storage(request, StorageProbeTarget(uid, by=DefinitionType.TABLE.value, text=table))
        return reading.run(lambda ctx: _table_page(request, ctx, found, table, looked))
    is_set = reading.run(lambda ctx: bool(resource_metadata.load(ctx, uid).settings.get("kind")))
    search = ListState.from_request(request, ("name",)).search
    listed = probe_storage(request, StorageProbeTarget(uid, search=search)) if is_set else None
    return reading.run(lambda ctx: _tables_page(request, ctx, found, listed))


def _tables_page(request: Request, ctx: RequestContext, found: ResourceView, looked: StorageProbe | None) -> Response:
    listing = ListState.from_request(request, ("name",))
    rows = [each for each in (looked.seen.tables if looked else ()) if _matches(each, listing.search)]
    rows.sort(key=lambda each: str(each["name"]).casefold(), reverse=listing.descending)
    values: dict[str, object] = {
        **page_frame.resource_frame(ctx, found, "tables"),
        "listing": listing,
        "columns": _TABLE_COLUMNS,
        "rows": listing.slice_page(rows),
        "total": len(rows),
        "looked": looked,
        "at": lambda each: _table_url(found.uid, each),
        "new": lambda each: _new_mart_from_table_url(found, each),
    }
    return pages.render(request, "marts/tables.html", values)


def _table_page(
    request: Request, ctx: RequestContext, found: ResourceView, table: str, looked: StorageProbe
) -> Response:
    values: dict[str, object] = {
        **page_frame.resource_frame(ctx, found, "tables"),
        "table": table,
        "looked": looked,
        "grid": probe_grid(looked.seen),
        "new": _new_mart_from_table_url(found, {"name": table}),
    }
    return pages.render(request, "marts/table_look.html", values)


def _need_use(ctx: RequestContext, uid: str) -> ResourceView:
    found = page_frame.need_kind(ctx, uid, STORAGE_KIND)
    ctx.need("use", uid)
    return found


def _matches(each: Mapping[str, Any], search: str) -> bool:
    return search.casefold() in str(each["name"]).casefold()


def _table_url(uid: str, each: Mapping[str, Any]) -> str:
    """Return the address of a table. One of a lakehouse has its own pages."""
    if each["uid"]:
        return urls.resource(str(each["uid"]), "sample")
    return f"{urls.resource(uid, 'tables')}?{urlencode({'table': each['name']})}"


def _new_mart_from_table_url(found: ResourceView, each: Mapping[str, Any]) -> str:
    """Return the address of the form for a data mart of a table."""
    within = found.workspace.uid if found.workspace else ""
    query = urlencode({"storage": found.uid, "table": each["name"]})
    return f"{kind_pages.create_form_url(within, 'marts.data_mart')}?{query}"
