"""The pages of a storage: its form, settings, connection test, data marts and tables; its options in other forms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.access import Draft
from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, read_transaction
from lakehold.catalog import credentials, kinds, resource_metadata, workspaces
from lakehold.catalog.resource_view import ResourceRef, ResourceSummary, ResourceView, VisibleRefs, load_summaries
from lakehold.directory.errors import DeniedError, HiddenError, UnauthorizedError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError
from lakehold.runs import queries
from lakehold.web import kind_pages, pages, table_pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.connections.form import ResourceForm, load_design
from lakehold.web.connections.form_page import ConnectionTest, form_routers, workspace_id
from lakehold.web.labels import format_count
from lakehold.web.list_view import ListState
from lakehold.workspaces.graph import edge_sources
from lakehold.workspaces.marts.api.data_marts import run_probe
from lakehold.workspaces.marts.mart_probe import ProbeTarget, StorageProbeResult
from lakehold.workspaces.marts.pages import page_frame
from lakehold.workspaces.marts.pages.page_frame import ProjectFormPage
from lakehold.workspaces.marts.settings import DATA_MART_KIND, STORAGE, STORAGE_KIND, DefinitionType, StorageType

_LAKEHOUSE, _MAX_OPTIONS = "lakehouse.lakehouse", 200


@dataclass(frozen=True, slots=True)
class StorageProbe:
    """The result of probing a storage, or the error."""

    seen: StorageProbeResult = field(default_factory=StorageProbeResult)
    error: LakeholdError | None = None


def probe_storage(request: Request, target: ProbeTarget) -> StorageProbe:
    """Probe a storage as the caller. Missing rights are raised; other errors are part of the result."""
    try:
        return StorageProbe(run_probe(request, target))
    except (DeniedError, HiddenError, UnauthorizedError):
        raise
    except LakeholdError as error:
        return StorageProbe(error=error)


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
        found = ctx.session.list(ctx.principal, sight, _LAKEHOUSE, limit=_MAX_OPTIONS).items
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


new, routes = form_routers(StorageFormPage)


@routes.get("/{uid:path}/storage")
def storage_page(request: Request, ctx: ReadContext, platform: CurrentPlatform, uid: str) -> Response:
    """Render the page of a storage."""
    found = page_frame.need_resource(ctx, uid, STORAGE_KIND)
    resource_usage.record(platform, ctx, kinds.catalog_kind(ctx.view.policy, found.kind).visible, uid)
    return _page(request, ctx, found)


@routes.post("/{uid:path}/storage/test")
def test(request: Request, uid: str) -> Response:
    """Test the connection and render the result."""
    reading = read_transaction(request)
    found = reading.run(lambda ctx: page_frame.need_resource(ctx, uid, STORAGE_KIND))
    probe = probe_storage(request, ProbeTarget(uid))
    return reading.run(lambda ctx: _page(request, ctx, found, probe))


def _page(request: Request, ctx: RequestContext, found: ResourceView, probe: StorageProbe | None = None) -> Response:
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
        "probe": probe,
        "marts": marts,
        "more_marts": len(marts) < len(edge_sources(ctx, uid, "storage")),
        "new_mart": _new_mart_url(found) if "use" in found.actions and found.workspace else "",
        "may": resource_header.actions_of(ctx, uid),
    }
    return pages.render(request, "marts/storage.html", values, status=422 if probe and probe.error else 200)


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


@routes.get("/{uid:path}/tables")
def tables_page(request: Request, uid: str, table: str = "") -> Response:
    """Render the tables that a worker finds in the storage, or the first rows of one."""
    reading = read_transaction(request)
    found, is_set = reading.run(lambda ctx: _need_use(ctx, uid))
    listing = ListState.from_request(request, ("name",))
    probe = None
    if table:
        probe = probe_storage(request, ProbeTarget(uid, by=DefinitionType.TABLE.value, text=table))
    elif is_set:
        probe = probe_storage(request, ProbeTarget(uid, search=listing.search))
    values = reading.run(lambda ctx: page_frame.resource_frame(ctx, found, "tables")) | {"probe": probe}
    if probe and table:
        values |= {
            "table": table,
            "grid": table_pages.sample_grid(probe.seen.fields, probe.seen.rows),
            "new": _new_mart_url(found, table=table),
        }
        return pages.render(request, "marts/table_sample.html", values)
    rows = listing.select(probe.seen.tables if probe else (), lambda each: str(each["name"]))
    values |= {
        **listing.page_values(rows),
        "at": lambda each: _table_url(uid, each),
        "new": lambda each: _new_mart_url(found, table=str(each["name"])),
    }
    return pages.render(request, "marts/tables.html", values)


def _need_use(ctx: RequestContext, uid: str) -> tuple[ResourceView, bool]:
    """Return the storage, if the caller may use it, and whether it is set up."""
    found = page_frame.need_resource(ctx, uid, STORAGE_KIND)
    ctx.need("use", uid)
    return found, bool(resource_metadata.load(ctx, uid).settings.get("kind"))


def _table_url(uid: str, each: Mapping[str, Any]) -> str:
    """Return the address of a table. One of a lakehouse has its own pages."""
    if each["uid"]:
        return urls.resource(str(each["uid"]), "sample")
    return f"{urls.resource(uid, 'tables')}?{urlencode({'table': each['name']})}"


@dataclass(frozen=True, slots=True)
class StorageOptions:
    """The kind and the tables of a storage, for the form of a data mart."""

    storage: ResourceRef | None = None
    kind: str = ""
    tables: Sequence[str] = ()
    lakehouse: str = ""
    """The one whose names the editor completes; empty if there is none that the caller may ask."""
    error: LakeholdError | None = None
    """Why its tables are not known."""

    @property
    def sql(self) -> bool:
        """Whether it can be queried in SQL."""
        return self.kind != StorageType.FILES


def storage_options(request: Request, uid: str) -> StorageOptions:
    """Return the options of a storage that the caller may use."""
    storage, kind, lakehouse = read_transaction(request).run(lambda ctx: _load_storage(ctx, uid))
    if not kind:
        return StorageOptions(storage)
    try:
        probe = probe_storage(request, ProbeTarget(uid, search=""))
    except LakeholdError as error:
        return StorageOptions(storage, kind, error=error)
    tables = [str(each["name"]) for each in probe.seen.tables]
    return StorageOptions(storage, kind, tables, lakehouse, probe.error)


def usable_storages(ctx: RequestContext, project: str) -> list[ResourceSummary]:
    """Return the storages that the caller may use."""
    return load_summaries(
        ctx, ctx.session.list(ctx.principal, "use", STORAGE_KIND, within=project, limit=_MAX_OPTIONS).items
    )


def new_storage_url(ctx: RequestContext, project: str) -> str:
    """Return the address of the form for a new storage, or an empty string if the caller may not create one."""
    may = ctx.session.check(ctx.principal, "create", Draft(STORAGE_KIND, {"project": project}))
    return kind_pages.create_form_url(project, STORAGE_KIND) if may else ""


def joinable_marts(ctx: RequestContext, project: str, but: str) -> list[tuple[str, str]]:
    """Return the data marts that the caller may use, except one."""
    found = ctx.session.list(ctx.principal, "use", DATA_MART_KIND, within=project, limit=_MAX_OPTIONS).items
    return [(item.uid, item.name) for item in found if item.uid != but]


def _load_storage(ctx: RequestContext, uid: str) -> tuple[ResourceRef | None, str, str]:
    ctx.need_visible(uid)
    ctx.need("use", uid)
    settings, visible = resource_metadata.load(ctx, uid).settings, VisibleRefs(ctx)
    kind, lakehouse = str(settings.get("kind", "")), visible.ref(str(settings.get("lakehouse", "")))
    may_ask = kind == StorageType.LAKE and lakehouse and queries.may_query(ctx, lakehouse.uid)
    return visible.ref(uid), kind, lakehouse.uid if lakehouse and may_ask else ""
