"""The pages of a storage: its form, settings, connection test and data marts; its tables."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.access import Draft
from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, read_transaction
from lakehold.catalog import credentials, kinds, resource_metadata, workspaces
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.web import kind_pages, pages, table_pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.connections.form import ResourceForm, load_design
from lakehold.web.connections.form_page import ConnectionTest, form_routers, workspace_id
from lakehold.web.labels import format_count
from lakehold.web.list_view import ListState
from lakehold.web.routing import router
from lakehold.workspaces.graph import edge_sources
from lakehold.workspaces.marts.mart_kinds import DATA_MART_KIND, STORAGE_KIND
from lakehold.workspaces.marts.mart_probe import ProbeTarget
from lakehold.workspaces.marts.pages import page_frame
from lakehold.workspaces.marts.pages.page_frame import ProjectFormPage
from lakehold.workspaces.marts.pages.storage_probe import StorageProbe, probe_storage
from lakehold.workspaces.marts.settings import STORAGE, DefinitionType, StorageType

_LAKEHOUSE, _MAX_LAKEHOUSES = "lakehouse.lakehouse", 200


class StorageFormPage(ProjectFormPage):
    """The form page of a storage."""

    kind, design = STORAGE_KIND, load_design(page_frame.FORMS, "storage", STORAGE.records)
    new_part, edit_part, list_view = "storages/new", "storage/edit", "storage"

    @classmethod
    def need_workspace(cls, ctx: RequestContext, uid: str) -> None:
        """Refuse unless the caller may create storages in the project."""
        workspaces.need_workspace(ctx, uid)
        ctx.need_draft(Draft(STORAGE_KIND, {"project": uid}))

    def options(self, ctx: RequestContext) -> Mapping[str, Sequence[tuple[Any, ...]]]:
        """Return the lakehouses that the caller sees."""
        sight = ctx.view.policy.kind(_LAKEHOUSE).schema.visible
        found = ctx.session.list(ctx.principal, sight, _LAKEHOUSE, limit=_MAX_LAKEHOUSES).items
        return {"lakehouse": [(item.uid, item.name) for item in found]}

    def test(self, filled: ResourceForm, secrets: Mapping[str, str]) -> ConnectionTest:
        """List the tables or files."""
        project = "" if self.uid else self.within
        probed = probe_storage(self.request, ProbeTarget(self.uid, project, filled.settings(), secrets))
        noun = "file" if filled.word == StorageType.FILES else "table"
        message = f"Connection successful: {format_count(len(probed.seen.tables), noun)} found."
        return ConnectionTest(probed.seen.notes[0] if probed.seen.notes else message, probed.error)

    def saved(self, filled: ResourceForm, uid: str) -> tuple[str, str]:
        """Return to the page of the storage."""
        return urls.resource(uid, "storage"), "Saved." if self.found else f"{filled.name} was created."


new, form_routes = form_routers(StorageFormPage)
routes = router("/resources")


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
    looked = probe_storage(request, ProbeTarget(uid))
    return reading.run(lambda ctx: _page(request, ctx, found, looked))


def _page(request: Request, ctx: RequestContext, found: ResourceView, looked: StorageProbe | None = None) -> Response:
    settings, uid = resource_metadata.load(ctx, found.uid).settings, found.uid
    kind = str(settings.get("kind", ""))
    marts = page_frame.visible_sources(ctx, uid, "storage")
    set_up = PageAction("Set up", kind_pages.edit_form_url(uid, found.kind), icon="pencil")
    values: dict[str, object] = {
        **page_frame.resource_frame(ctx, found, "storage"),
        "kind": kind,
        "kind_said": known.label if (known := StorageFormPage.design.types.get(kind)) else "",
        "facts": None if found.settings is None else _setting_facts(ctx, found),
        "set_up": page_frame.action_of(ctx, uid, "edit", set_up),
        "acts": _storage_actions(ctx, found, kind),
        "looked": looked,
        "marts": marts,
        "more_marts": len(marts) < len(edge_sources(ctx, uid, "storage")),
        "new_mart": _new_mart_url(found) if "use" in found.actions and found.workspace else "",
        "may": resource_header.actions_of(ctx, uid),
    }
    return pages.render(request, "marts/storage.html", values, status=422 if looked and looked.error else 200)


def _setting_facts(ctx: RequestContext, found: ResourceView) -> list[tuple[str, str]]:
    """Return the settings as pairs of label and value, without secrets."""
    filled = StorageFormPage.design.from_resource(found)
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
    return [*copied, page_frame.action_of(ctx, found.uid, "use", tested)]


def _new_mart_url(found: ResourceView, **table: str) -> str:
    """Return the address of the form for a data mart of the storage, or of a table of it."""
    query = urlencode({"storage": found.uid, **table})
    return f"{kind_pages.create_form_url(workspace_id(found), DATA_MART_KIND)}?{query}"


table_routes = router("/resources")


@table_routes.get("/{uid:path}/tables")
def tables_page(request: Request, uid: str, table: str = "") -> Response:
    """Render the tables that a worker finds in the storage, or the first rows of one."""
    reading = read_transaction(request)
    found, is_set = reading.run(lambda ctx: _need_use(ctx, uid))
    listing = ListState.from_request(request, ("name",))
    looked = None
    if table:
        looked = probe_storage(request, ProbeTarget(uid, by=DefinitionType.TABLE.value, text=table))
    elif is_set:
        looked = probe_storage(request, ProbeTarget(uid, search=listing.search))
    values = reading.run(lambda ctx: page_frame.resource_frame(ctx, found, "tables")) | {"looked": looked}
    if looked and table:
        values |= {
            "table": table,
            "grid": table_pages.sample_grid(looked.seen.fields, looked.seen.rows),
            "new": _new_mart_url(found, table=table),
        }
        return pages.render(request, "marts/table_look.html", values)
    rows = listing.select(looked.seen.tables if looked else (), lambda each: str(each["name"]))
    values |= {
        **listing.page_values(rows),
        "at": lambda each: _table_url(uid, each),
        "new": lambda each: _new_mart_url(found, table=str(each["name"])),
    }
    return pages.render(request, "marts/tables.html", values)


def _need_use(ctx: RequestContext, uid: str) -> tuple[ResourceView, bool]:
    """Return the storage, if the caller may use it, and whether it is set up."""
    found = page_frame.need_kind(ctx, uid, STORAGE_KIND)
    ctx.need("use", uid)
    return found, bool(resource_metadata.load(ctx, uid).settings.get("kind"))


def _table_url(uid: str, each: Mapping[str, Any]) -> str:
    """Return the address of a table. One of a lakehouse has its own pages."""
    if each["uid"]:
        return urls.resource(str(each["uid"]), "sample")
    return f"{urls.resource(uid, 'tables')}?{urlencode({'table': each['name']})}"
