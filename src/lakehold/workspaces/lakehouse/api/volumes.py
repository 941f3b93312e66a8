"""Endpoints of the files of volumes. List, upload, download and delete them."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext
from lakehold.api.http.models import IdText, PlainText
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import make_router
from lakehold.api.lake.files import DOWNLOAD, UPLOAD, FilePath, VolumeFileJson, files_page, receive_upload, send_file
from lakehold.workspaces.lakehouse.volumes import FILES

routes = make_router("/api/v1/volumes", "Volumes")


@routes.get("/{volume}/files")
def list_files(
    ctx: ReadContext, platform: CurrentPlatform, paged: PageParams, volume: IdText, folder: PlainText = ""
) -> PageResponse[VolumeFileJson]:
    """List a folder of a volume: folders first, then files, each by name."""
    return files_page(paged, FILES.list_files(ctx, platform.settings, volume, folder), folder)


@routes.get("/{volume}/files/{path:path}", **DOWNLOAD)
def download_file(ctx: ReadContext, platform: CurrentPlatform, volume: IdText, path: FilePath) -> Response:
    """Download a file."""
    return send_file(*FILES.open_file(ctx, platform.settings, volume, path))


@routes.put("/{volume}/files/{path:path}", **UPLOAD)
async def upload_file(request: Request, volume: IdText, path: FilePath, *, replace: bool = False) -> VolumeFileJson:
    """Upload a file, which is the body of the request. An existing file of the same name is kept, unless `replace`
    is set.
    """
    return await receive_upload(request, FILES, volume, path, replace=replace)


@routes.delete("/{volume}/files/{path:path}", status_code=204)
def delete_file(ctx: WriteContext, platform: CurrentPlatform, volume: IdText, path: FilePath) -> None:
    """Delete a file permanently."""
    FILES.delete_file(ctx, platform.settings, volume, path)
