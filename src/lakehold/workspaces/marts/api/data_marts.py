"""Endpoints of storages and data marts. Test and probe storages; preview definitions, publish, outcomes of checks."""

from typing import Annotated, Any, Literal

from fastapi import Query, Request, Response
from pydantic import Field

from lakehold.api.catalog.schemas import OptionalId, SecretTexts, SettingsJson
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext, get_platform, read_transaction
from lakehold.api.http.models import IdText, ItemsResponse, PlainText, RecordTime, RequestModel, ResponseModel
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import WORKER_CALL, make_router, problem_responses
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.api.lake.files import DOWNLOAD, UPLOAD, FilePath, VolumeFileJson, files_page, receive_upload, send_file
from lakehold.api.lake.queries import OwnQueryUid
from lakehold.catalog import kinds
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.runs import queries
from lakehold.workspaces.marts import checks, mart_probe, pipelines
from lakehold.workspaces.marts.mart_probe import ProbeTarget, StorageProbeResult
from lakehold.workspaces.marts.settings import DefinitionType, parse_definition
from lakehold.workspaces.marts.storages import FILES

storage_routes = make_router("/api/v1/storages", "Storages")


class StorageConnectionBody(RequestModel):
    """A storage to connect to, either an existing one, or one that would be created in a project."""

    storage: OptionalId = Field(default="", description="An existing one, whose credentials are used.")
    project: OptionalId = Field(default="", description="Where a new one would be created.")
    settings: SettingsJson | None = Field(
        default=None, examples=[{"kind": "lake", "lakehouse": "store_lake"}], description="Other ones than it has."
    )
    credentials: SecretTexts = Field(default_factory=dict, examples=[{}], description="Not kept.")
    id: OwnQueryUid = None


class StorageProbeBody(RequestModel):
    """A table, pattern or query to sample."""

    by: Literal["sql", "table", "pattern"] = Field(examples=["table"])
    text: Annotated[str, Field(min_length=1, max_length=queries.MAX_QUERY_LENGTH)] = Field(
        examples=["shaped.daily_sales"]
    )
    id: OwnQueryUid = None


class StorageTableJson(ResponseModel):
    """A table of a storage."""

    name: str = Field(examples=["shaped.daily_sales"])
    uid: str = Field(examples=["shaped_daily_sales"], description="Its id, if it is one of a lakehouse.")
    keys: list[str] = Field(examples=[["id"]], description="The primary key, where it is known.")


class StorageTableListJson(ResponseModel):
    """Tables that the caller may read."""

    items: list[StorageTableJson]
    notes: list[str] = Field(examples=[[]])


class StorageSampleJson(ResponseModel):
    """Fields and first rows."""

    fields: list[dict[str, str]] = Field(examples=[[{"name": "id", "type": "bigint"}]])
    rows: list[list[Any]] = Field(examples=[[[1]]])
    notes: list[str] = Field(examples=[[]])
    reads: list[str] = Field(examples=[[]], description="The tables of a lakehouse that it reads.")


@storage_routes.post("/test", **WORKER_CALL)
def test_storage(request: Request, body: StorageConnectionBody) -> StorageTableListJson:
    """Test the connection to a storage, and list its tables.

    With other settings than it has, for those who may edit it or create one.
    """
    target = ProbeTarget(body.storage, body.project, body.settings, body.credentials)
    return _tables_json(run_probe(request, target, body.id))


@storage_routes.get("/{storage}/tables", **WORKER_CALL)
def list_storage_tables(request: Request, storage: IdText, search: PlainText = "") -> StorageTableListJson:
    """List the tables of a storage, for those who may use it. Of a lakehouse, those that the caller may read."""
    return _tables_json(run_probe(request, ProbeTarget(storage)), search)


@storage_routes.post("/{storage}/look", **WORKER_CALL, operation_id="look_into_storage")
def probe_storage(request: Request, storage: IdText, body: StorageProbeBody) -> StorageSampleJson:
    """Get the fields and first rows of a table, of the first table that matches a pattern, or of a query."""
    target = ProbeTarget(storage, by=body.by, text=body.text)
    return StorageSampleJson.model_validate(run_probe(request, target, body.id))


def run_probe(request: Request, target: ProbeTarget, query: str | None = None) -> StorageProbeResult:
    """Probe a storage outside of the transaction that checks the right to do so; by the id of the query to stop it."""
    begun = read_transaction(request).run(lambda ctx: mart_probe.prepare_storage_probe(ctx, target))
    return mart_probe.probe_storage(get_platform(request), begun, query or "")


def _tables_json(seen: StorageProbeResult, search: str = "") -> StorageTableListJson:
    found = [each for each in seen.tables if search.casefold() in each["name"].casefold()]
    return StorageTableListJson.model_validate({"items": found, "notes": seen.notes})


@storage_routes.get("/{storage}/files")
def list_storage_files(
    ctx: ReadContext, platform: CurrentPlatform, paged: PageParams, storage: IdText, folder: PlainText = ""
) -> PageResponse[VolumeFileJson]:
    """List a folder of a file storage, for those who may use it."""
    return files_page(paged, FILES.list_files(ctx, platform.settings, storage, folder), folder)


@storage_routes.get("/{storage}/files/{path:path}", **DOWNLOAD)
def download_storage_file(ctx: ReadContext, platform: CurrentPlatform, storage: IdText, path: FilePath) -> Response:
    """Download a file, for those who may use the storage."""
    return send_file(*FILES.open_file(ctx, platform, storage, path))


@storage_routes.put("/{storage}/files/{path:path}", **UPLOAD)
async def upload_storage_file(
    request: Request, storage: IdText, path: FilePath, *, replace: bool = False
) -> VolumeFileJson:
    """Upload a file, which is the body of the request, for those who may edit the storage."""
    return await receive_upload(request, FILES, storage, path, replace=replace)


@storage_routes.delete("/{storage}/files/{path:path}", status_code=204)
def delete_storage_file(ctx: WriteContext, platform: CurrentPlatform, storage: IdText, path: FilePath) -> None:
    """Delete a file of a storage permanently."""
    FILES.delete_file(ctx, platform.settings, storage, path)


routes = make_router("/api/v1/marts", "Data marts")

_MAX_OUTCOMES = 1_000


class CheckOutcomeJson(ResponseModel):
    """The outcome of a check."""

    name: str = Field(examples=["unique id"])
    state: str = Field(
        examples=["kept"], description="kept (passed), broken (failed), or unknown if it could not be evaluated."
    )
    said: str = Field(examples=["passed"])
    at: RecordTime


class MartPreviewBody(RequestModel):
    """A data mart to preview before it is saved."""

    storage: IdText = Field(examples=["lake"], description="The storage that it would read.")
    settings: SettingsJson = Field(examples=[{"by": "table", "table": "shaped.daily_sales"}])
    mart: OptionalId = Field(
        default="", description="An existing one; if a connector feeds it, its credentials are used."
    )
    credentials: SecretTexts = Field(default_factory=dict, examples=[{}], description="Of a connector; not stored.")
    id: OwnQueryUid = None


@routes.post("/try", **WORKER_CALL, operation_id="try_mart")
def preview_mart(request: Request, body: MartPreviewBody) -> StorageSampleJson:
    """Preview the fields and first rows of a data mart before it is saved. For those who may use the storage.

    Of one that a connector fills, for those who may edit it or create one.
    """
    definition = parse_definition(body.settings)
    if definition.by is DefinitionType.CONNECTOR:
        seen = _probe_connector(request, body, definition.text)
    else:
        seen = run_probe(request, ProbeTarget(body.storage, by=definition.by or "", text=definition.text), body.id)
    for message in mart_probe.definition_errors(definition, seen.fields).values():
        raise InvalidInputError(message, "Correct the settings.")
    return StorageSampleJson.model_validate(seen)


def _probe_connector(request: Request, body: MartPreviewBody, stream: str) -> StorageProbeResult:
    """Probe a connector outside of the transaction that checks the right to do so."""

    def prepare(ctx: RequestContext) -> tuple[Caller, ProbeTarget]:
        ctx.need("use", body.storage)
        project = kinds.workspace_of(ctx.view, body.storage) or ""
        feed = ProbeTarget(body.mart, project, body.settings, body.credentials, text=stream)
        mart_probe.need_feed_probe(ctx, feed)
        return ctx.caller, feed

    found = mart_probe.probe_feed(get_platform(request), *read_transaction(request).run(prepare), body.id or "")
    return StorageProbeResult(fields=found["fields"], rows=found["rows"], notes=found["notes"])


@routes.get("/{mart}/checks")
def list_check_outcomes(
    ctx: ReadContext, mart: IdText, limit: Annotated[int, Query(ge=1, le=_MAX_OUTCOMES)] = 200
) -> ItemsResponse[CheckOutcomeJson]:
    """List the outcomes of a data mart's checks, for those who see it."""
    return ItemsResponse[CheckOutcomeJson].from_records(checks.list_results(ctx, mart, limit=limit))


@routes.post("/{mart}/publish", status_code=204, responses=problem_responses(409))
def publish_mart(ctx: WriteContext, lake: CurrentLake, mart: IdText) -> None:
    """Publish a data mart, so that reports can use it."""
    pipelines.publish(ctx, lake, mart)


@routes.post("/{mart}/unpublish", status_code=204)
def unpublish_mart(ctx: WriteContext, mart: IdText) -> None:
    """Unpublish a data mart, which becomes a draft again."""
    pipelines.unpublish(ctx, mart)
