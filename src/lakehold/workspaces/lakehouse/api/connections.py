"""Endpoints of sources, which are probed before they are saved, of integrations, and of the files of volumes."""

from typing import Any

from fastapi import Request, Response
from pydantic import Field

from lakehold.api.catalog.schemas import OptionalId, SecretTexts, SettingsJson
from lakehold.api.http.dependencies import CreateContext, CurrentPlatform, ReadContext, WriteContext, read_transaction
from lakehold.api.http.models import IdText, PlainText, RequestModel, ResponseModel
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import WORKER_CALL, make_router
from lakehold.api.lake.files import DOWNLOAD, UPLOAD, FilePath, VolumeFileJson, files_page, receive_upload, send_file
from lakehold.api.lake.queries import OwnQueryUid
from lakehold.directory.tokens import DEFAULT_DAYS, MAX_DAYS
from lakehold.runs import worker_client
from lakehold.workspaces.lakehouse import integrations
from lakehold.workspaces.lakehouse.pipelines.connections import need_source_probe, sampled_resource
from lakehold.workspaces.lakehouse.volumes import FILES

source_routes = make_router("/api/v1/sources", "Sources")


class SourceProbeBody(RequestModel):
    """A source to probe, either an existing one, or one that would be created."""

    settings: SettingsJson = Field(examples=[{"connector": "files", "volume": "raw_files"}])
    source: OptionalId = Field(default="", description="An existing one, whose credentials are used.")
    lakehouse: OptionalId = Field(default="", description="Where a new one would be created.")
    layer: OptionalId = Field(default="", description="The layer that it would write into.")
    credentials: SecretTexts = Field(default_factory=dict, examples=[{}], description="Not kept.")
    stream: PlainText = Field(default="", description="The stream to sample.")
    how: SettingsJson = Field(default_factory=dict, examples=[{}], description="The settings of that stream.")
    id: OwnQueryUid = None


class SourceProbeJson(ResponseModel):
    """The streams of a source, or a sample of one."""

    streams: list[dict[str, Any]] = Field(default=[], examples=[[{"name": "public.orders"}]])
    fields: list[dict[str, Any]] = Field(default=[], examples=[[{"name": "id", "type": "bigint"}]])
    rows: list[list[Any]] = Field(default=[], examples=[[[1]]])
    notes: list[str] = Field(default=[], examples=[[]])
    format: dict[str, Any] | None = Field(default=None, examples=[{"kind": "separated"}])


@source_routes.post("/look", **WORKER_CALL, operation_id="look_at_source")
def probe_source(request: Request, platform: CurrentPlatform, body: SourceProbeBody) -> SourceProbeJson:
    """Probe a source for its streams, or a sample of one. Only for those who may create or edit it."""
    values = {**body.model_dump(exclude={"credentials", "id"}), "secrets": body.credentials}
    caller = read_transaction(request).run(lambda ctx: need_source_probe(ctx, values))
    return SourceProbeJson(
        **worker_client.probe(platform, caller, "lakehouse.source", values, sampled_resource(values), uid=body.id or "")
    )


integration_routes = make_router("/api/v1/integrations", "Integrations")


class NewIntegrationToken(RequestModel):
    """The lifetime of a token to create."""

    days: int | None = Field(default=DEFAULT_DAYS, ge=1, le=MAX_DAYS, description="Null for one without end.")


class CreatedIntegrationTokenJson(ResponseModel):
    """A token for a tool. Its secret is never shown again."""

    token: str = Field(examples=["4fK0aQx9Zb"], description="Its id, to revoke it by.")
    secret: str = Field(examples=["lh_4fK0aQx9Zb_…"])
    tables: list[str] = Field(examples=[["orders"]], description="What it reads: /api/v1/tables/{table}/rows.")


@integration_routes.post("/{integration}/tokens", status_code=201)
def open_integration(ctx: CreateContext, integration: IdText, body: NewIntegrationToken) -> CreatedIntegrationTokenJson:
    """Create a token that reads the integration's tables and nothing else, as you and for as long as you may."""
    created = integrations.create_token(ctx, integration, body.days)
    return CreatedIntegrationTokenJson(
        token=created.token.id, secret=created.secret, tables=sorted(created.token.resources or ())
    )


volume_routes = make_router("/api/v1/volumes", "Volumes")


@volume_routes.get("/{volume}/files")
def list_files(
    ctx: ReadContext, platform: CurrentPlatform, paged: PageParams, volume: IdText, folder: PlainText = ""
) -> PageResponse[VolumeFileJson]:
    """List a folder of a volume: folders first, then files, each by name."""
    return files_page(paged, FILES.list_files(ctx, platform.settings, volume, folder), folder)


@volume_routes.get("/{volume}/files/{path:path}", **DOWNLOAD)
def download_file(ctx: ReadContext, platform: CurrentPlatform, volume: IdText, path: FilePath) -> Response:
    """Download a file."""
    return send_file(*FILES.open_file(ctx, platform, volume, path))


@volume_routes.put("/{volume}/files/{path:path}", **UPLOAD)
async def upload_file(request: Request, volume: IdText, path: FilePath, *, replace: bool = False) -> VolumeFileJson:
    """Upload a file, which is the body of the request.

    An existing file of the same name is kept, unless `replace` is set.
    """
    return await receive_upload(request, FILES, volume, path, replace=replace)


@volume_routes.delete("/{volume}/files/{path:path}", status_code=204)
def delete_file(ctx: WriteContext, platform: CurrentPlatform, volume: IdText, path: FilePath) -> None:
    """Delete a file permanently."""
    FILES.delete_file(ctx, platform.settings, volume, path)
