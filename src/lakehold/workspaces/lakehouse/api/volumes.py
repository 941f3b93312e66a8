"""Endpoints of the files of volumes. List, upload, download and delete them."""

from __future__ import annotations

from fastapi import Request, Response
from fastapi.responses import FileResponse

from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext, get_platform
from lakehold.api.http.models import IdText, PlainText
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import REQUIRES_SIGN_IN, make_router, problem_responses
from lakehold.api.lake.files import OCTET_STREAM, UPLOAD_CONTENT, FilePath, VolumeFileJson, files_page, receive_upload
from lakehold.workspaces.lakehouse import volumes

routes = make_router("/api/v1/volumes", "Volumes")


@routes.get("/{volume}/files")
def list_files(
    ctx: ReadContext, platform: CurrentPlatform, paged: PageParams, volume: IdText, folder: PlainText = ""
) -> PageResponse[VolumeFileJson]:
    """List a folder of a volume: folders first, then files, each by name."""
    return files_page(paged, volumes.list_files(ctx, platform.settings, volume, folder), folder)


@routes.get(
    "/{volume}/files/{path:path}",
    response_class=FileResponse,
    responses={200: {"description": "The file", "content": {OCTET_STREAM: {}}}},
)
def download_file(ctx: ReadContext, platform: CurrentPlatform, volume: IdText, path: FilePath) -> Response:
    """Download a file."""
    found, file = volumes.open_file(ctx, platform.settings, volume, path)
    return FileResponse(found.path_on_disk(path), media_type=OCTET_STREAM, filename=file.name)


@routes.put(
    "/{volume}/files/{path:path}",
    status_code=201,
    response_model=VolumeFileJson,
    openapi_extra={**REQUIRES_SIGN_IN, "requestBody": {"required": True, **UPLOAD_CONTENT}},
    responses=problem_responses(401, 403, 404, 409, 413, 503),
)
async def upload_file(request: Request, volume: IdText, path: FilePath, *, replace: bool = False) -> VolumeFileJson:
    """Upload a file, which is the body of the request. An existing file of the same name is kept, unless `replace`
    is set.
    """
    settings = get_platform(request).settings
    return await receive_upload(
        request,
        path,
        lambda ctx: volumes.check_upload(ctx, settings, volume, path, replace=replace),
        lambda ctx, rough: volumes.store_upload(ctx, settings, volume, path, rough, replace=replace),
    )


@routes.delete("/{volume}/files/{path:path}", status_code=204)
def delete_file(ctx: WriteContext, platform: CurrentPlatform, volume: IdText, path: FilePath) -> None:
    """Delete a file permanently."""
    volumes.delete_file(ctx, platform.settings, volume, path)
