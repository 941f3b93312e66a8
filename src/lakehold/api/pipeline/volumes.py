"""Files of volumes: list, upload, download and delete them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

from fastapi import Request, Response
from fastapi.concurrency import contextmanager_in_threadpool, run_in_threadpool
from fastapi.responses import FileResponse
from pydantic import Field

from lakehold.api.frame.callers import shown_by
from lakehold.api.frame.door import make_room
from lakehold.api.frame.models import Answer, IdText, PlainText, Time, time_of
from lakehold.api.frame.paging import Page, Paged
from lakehold.api.frame.routes import SIGNED, problems, router
from lakehold.api.frame.works import Asked, House, Reading, Writing, house_of
from lakehold.directory.request_context import RequestContext
from lakehold.lake.volumes import PartialFile, Volume, VolumeEntry
from lakehold.workspaces.lakehouse import volumes

routes = router("/api/v1/volumes", "Volumes")

BYTES = "application/octet-stream"
CONTENT = {"content": {BYTES: {"schema": {"type": "string", "format": "binary"}}}}
FilePath = Annotated[PlainText, Field(min_length=1, examples=["2031/orders.csv"])]
"""The name of a file; a slash stands behind each folder that it is in."""


class VolumeFile(Answer):
    """A file or a folder in a volume."""

    path: str = Field(examples=["2031/orders.csv"])
    folder: bool
    bytes: int
    changed_at: Time


@routes.get("/{volume}/files")
def list_files(ctx: Reading, platform: House, paged: Paged, volume: IdText, folder: PlainText = "") -> Page[VolumeFile]:
    """What is in a folder of a volume: folders first, then files, each by name."""
    return paged_files(paged, volumes.list_files(ctx, platform.settings, volume, folder), folder)


@routes.get(
    "/{volume}/files/{path:path}",
    response_class=FileResponse,
    responses={200: {"description": "The file", "content": {BYTES: {}}}},
)
def download_file(ctx: Reading, platform: House, volume: IdText, path: FilePath) -> Response:
    """A file, as it was uploaded or delivered."""
    found, file = volumes.open_file(ctx, platform.settings, volume, path)
    return FileResponse(found.path_on_disk(path), media_type=BYTES, filename=file.name)


@routes.put(
    "/{volume}/files/{path:path}",
    status_code=201,
    response_model=VolumeFile,
    openapi_extra={**SIGNED, "requestBody": {"required": True, **CONTENT}},
    responses=problems(401, 403, 404, 409, 413, 503),
)
async def upload_file(request: Request, volume: IdText, path: FilePath, *, replace: bool = False) -> VolumeFile:
    """Upload a file: the body is its content. One that has the same name is kept, unless it is to be replaced."""
    settings = house_of(request).settings
    return await uploaded(
        request,
        path,
        lambda ctx: volumes.check_upload(ctx, settings, volume, path, replace=replace),
        lambda ctx, rough: volumes.store_upload(ctx, settings, volume, path, rough, replace=replace),
    )


@routes.delete("/{volume}/files/{path:path}", status_code=204)
def delete_file(ctx: Writing, platform: House, volume: IdText, path: FilePath) -> None:
    """Delete a file. It cannot be brought back."""
    volumes.delete_file(ctx, platform.settings, volume, path)


def paged_files(paged: Paged, found: Sequence[VolumeEntry], folder: str) -> Page[VolumeFile]:
    """Some of the files of a folder."""
    start = paged.start(f"files {folder}", int)
    behind = 0 if start is None else int(str(start[0]))
    some = list(enumerate(found, start=1))[behind : behind + paged.limit + 1]
    return paged.page(f"files {folder}", some, lambda each: (each[0],), lambda each: _told(each[1]))


async def uploaded(
    request: Request,
    path: str,
    expected: Callable[[RequestContext], Volume],
    arrived: Callable[[RequestContext, PartialFile], None],
) -> VolumeFile:
    """Take a file in: asked before it comes, and once more when it is here.

    However slowly it comes, no thread waits for it: there are only so many, and all requests share them.
    """
    shown = shown_by(request)
    make_room(request.scope, house_of(request).settings.upload_megabytes * 1_000_000)
    there = await run_in_threadpool(Asked(request, shown, writes=True).run, expected)
    async with contextmanager_in_threadpool(there.open_partial()) as rough:
        async for part in request.stream():
            await run_in_threadpool(rough.write, part)
        await run_in_threadpool(rough.flush_to_disk)
        await run_in_threadpool(Asked(request, shown, writes=True).run, lambda ctx: arrived(ctx, rough))
    return _told(there.get_file(path))


def _told(file: VolumeEntry) -> VolumeFile:
    return VolumeFile(path=file.path, folder=file.is_folder, bytes=file.size, changed_at=time_of(file.changed_at))
