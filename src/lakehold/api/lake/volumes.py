"""Endpoints of the files of volumes. List, upload, download and delete them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

from fastapi import Request, Response
from fastapi.concurrency import contextmanager_in_threadpool, run_in_threadpool
from fastapi.responses import FileResponse
from pydantic import Field

from lakehold.api.http.authentication import read_credentials
from lakehold.api.http.dependencies import CurrentPlatform, PendingRequest, ReadContext, WriteContext, get_platform
from lakehold.api.http.middleware import allow_body_size
from lakehold.api.http.models import IdText, PlainText, ResponseModel, Time, to_datetime
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import REQUIRES_SIGN_IN, make_router, problem_responses
from lakehold.directory.request_context import RequestContext
from lakehold.lake.volumes import PartialFile, Volume, VolumeEntry
from lakehold.workspaces.lakehouse import volumes

routes = make_router("/api/v1/volumes", "Volumes")

OCTET_STREAM = "application/octet-stream"
UPLOAD_CONTENT = {"content": {OCTET_STREAM: {"schema": {"type": "string", "format": "binary"}}}}
FilePath = Annotated[PlainText, Field(min_length=1, examples=["2031/orders.csv"])]
"""The name of a file; a slash stands behind each folder that it is in."""


class VolumeFileJson(ResponseModel):
    """A file or a folder in a volume."""

    path: str = Field(examples=["2031/orders.csv"])
    folder: bool
    bytes: int
    changed_at: Time


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


def files_page(paged: PageParams, found: Sequence[VolumeEntry], folder: str) -> PageResponse[VolumeFileJson]:
    """Return a page of the files of a folder."""
    start = paged.start_key(f"files {folder}", int)
    behind = 0 if start is None else int(str(start[0]))
    some = list(enumerate(found, start=1))[behind : behind + paged.limit + 1]
    return paged.build_page(f"files {folder}", some, lambda each: (each[0],), lambda each: _file_json(each[1]))


async def receive_upload(
    request: Request,
    path: str,
    prepare: Callable[[RequestContext], Volume],
    finish: Callable[[RequestContext, PartialFile], None],
) -> VolumeFileJson:
    """Receive an upload. The right is checked before it is received, and again afterwards.

    However slow the sender is, no thread waits for it, because all requests share a limited number of threads.
    """
    credentials = read_credentials(request)
    allow_body_size(request.scope, get_platform(request).settings.upload_megabytes * 1_000_000)
    target_volume = await run_in_threadpool(PendingRequest(request, credentials, writes=True).run, prepare)
    async with contextmanager_in_threadpool(target_volume.open_partial()) as rough:
        async for part in request.stream():
            await run_in_threadpool(rough.write, part)
        await run_in_threadpool(rough.flush_to_disk)
        await run_in_threadpool(PendingRequest(request, credentials, writes=True).run, lambda ctx: finish(ctx, rough))
    return _file_json(target_volume.get_file(path))


def _file_json(file: VolumeEntry) -> VolumeFileJson:
    return VolumeFileJson(
        path=file.path, folder=file.is_folder, bytes=file.size, changed_at=to_datetime(file.changed_at)
    )
