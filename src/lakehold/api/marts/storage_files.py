"""Files of storages: those that data marts draw from. List, upload, download and delete them."""

from __future__ import annotations

from fastapi import Request, Response
from fastapi.responses import FileResponse

from lakehold.api.frame.models import IdText, PlainText
from lakehold.api.frame.paging import Page, Paged
from lakehold.api.frame.routes import SIGNED, problems, router
from lakehold.api.frame.works import House, Reading, Writing, house_of
from lakehold.api.pipeline.volumes import BYTES, CONTENT, FilePath, VolumeFile, paged_files, uploaded
from lakehold.workspaces.marts import files

routes = router("/api/v1/storages", "Storages")


@routes.get("/{storage}/files")
def list_storage_files(
    ctx: Reading, platform: House, paged: Paged, storage: IdText, folder: PlainText = ""
) -> Page[VolumeFile]:
    """What is in a folder of a storage of files, for those who may use it."""
    return paged_files(paged, files.list_files(ctx, platform.settings, storage, folder), folder)


@routes.get(
    "/{storage}/files/{path:path}",
    response_class=FileResponse,
    responses={200: {"description": "The file", "content": {BYTES: {}}}},
)
def download_storage_file(ctx: Reading, platform: House, storage: IdText, path: FilePath) -> Response:
    """A file as it was uploaded, for those who may use the storage."""
    found, file = files.open_file(ctx, platform.settings, storage, path)
    return FileResponse(found.path_on_disk(path), media_type=BYTES, filename=file.name)


@routes.put(
    "/{storage}/files/{path:path}",
    status_code=201,
    response_model=VolumeFile,
    openapi_extra={**SIGNED, "requestBody": {"required": True, **CONTENT}},
    responses=problems(401, 403, 404, 409, 413, 503),
)
async def upload_storage_file(
    request: Request, storage: IdText, path: FilePath, *, replace: bool = False
) -> VolumeFile:
    """Upload a file to a storage that one may edit: the body is its content."""
    settings = house_of(request).settings
    return await uploaded(
        request,
        path,
        lambda ctx: files.check_upload(ctx, settings, storage, path, replace=replace),
        lambda ctx, rough: files.store_upload(ctx, settings, storage, path, rough, replace=replace),
    )


@routes.delete("/{storage}/files/{path:path}", status_code=204)
def delete_storage_file(ctx: Writing, platform: House, storage: IdText, path: FilePath) -> None:
    """Delete a file of a storage. It cannot be brought back."""
    files.delete_file(ctx, platform.settings, storage, path)
