"""Files in requests and responses: a page of a folder, and an upload."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

from fastapi import Request
from fastapi.concurrency import contextmanager_in_threadpool, run_in_threadpool
from pydantic import Field

from lakehold.api.http.authentication import read_credentials
from lakehold.api.http.dependencies import PendingRequest, get_platform
from lakehold.api.http.middleware import allow_body_size
from lakehold.api.http.models import PlainText, ResponseModel, Time, to_datetime
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.directory.request_context import RequestContext
from lakehold.lake.volumes import PartialFile, Volume, VolumeEntry

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
