"""Files in requests and responses: a page of a folder, and an upload."""

import os
from collections.abc import Sequence
from typing import Annotated, Any, BinaryIO

from fastapi import Request, Response
from fastapi.concurrency import contextmanager_in_threadpool, run_in_threadpool
from fastapi.responses import FileResponse
from pydantic import Field
from starlette.types import Receive, Scope, Send

from lakehold.api.http.dependencies import get_platform, write_transaction
from lakehold.api.http.middleware import allow_body_size
from lakehold.api.http.models import PlainText, RecordTime, ResponseModel
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import REQUIRES_SIGN_IN, problem_responses
from lakehold.lake.volumes import Volume, VolumeEntry
from lakehold.workspaces.volume_files import FileService

OCTET_STREAM = "application/octet-stream"
_CONTENT = {OCTET_STREAM: {"schema": {"type": "string", "format": "binary"}}}
FilePath = Annotated[PlainText, Field(min_length=1, examples=["2031/orders.csv"])]
"""The name of a file; a slash stands behind each folder that it is in."""


class VolumeFileJson(ResponseModel):
    """A file or a folder in a volume."""

    path: str = Field(examples=["2031/orders.csv"])
    folder: bool = Field(validation_alias="is_folder")
    bytes: int = Field(validation_alias="size")
    changed_at: RecordTime


DOWNLOAD: dict[str, Any] = {
    "response_class": FileResponse,
    "responses": {200: {"description": "The file", "content": {OCTET_STREAM: {}}}},
}
"""The OpenAPI options of an endpoint that sends a file."""
UPLOAD: dict[str, Any] = {
    "status_code": 201,
    "response_model": VolumeFileJson,
    "openapi_extra": {**REQUIRES_SIGN_IN, "requestBody": {"required": True, "content": _CONTENT}},
    "responses": problem_responses(401, 403, 404, 409, 413, 503),
}
"""The OpenAPI options of an endpoint that receives a file."""


class VolumeFileResponse(FileResponse):
    """The content of a file that is open already: whatever takes its name meanwhile is not sent."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        number = file.fileno()
        super().__init__(f"/dev/fd/{number}", media_type=OCTET_STREAM, filename=name, stat_result=os.fstat(number))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file, then close it."""
        with self._file:
            await super().__call__(scope, receive, send)


def send_file(volume: Volume, file: VolumeEntry) -> Response:
    """Return the content of a file."""
    return VolumeFileResponse(volume.open_file(file.path), file.name)


def files_page(paged: PageParams, found: Sequence[VolumeEntry], folder: str) -> PageResponse[VolumeFileJson]:
    """Return a page of the files of a folder."""
    return paged.slice_page(f"files {folder}", found, VolumeFileJson.model_validate)


async def receive_upload(
    request: Request, service: FileService, uid: str, path: str, *, replace: bool
) -> VolumeFileJson:
    """Receive an upload. The right is checked before it is received, and again afterwards.

    However slow the sender is, no thread waits for it, because all requests share a limited number of threads.
    """
    settings = get_platform(request).settings
    pending = write_transaction(request)
    allow_body_size(request.scope, settings.upload_megabytes * 1_000_000)
    target_volume = await run_in_threadpool(
        pending.run, lambda ctx: service.check_upload(ctx, settings, uid, path, replace=replace)
    )
    async with contextmanager_in_threadpool(target_volume.open_partial()) as rough:
        async for part in request.stream():
            await run_in_threadpool(rough.write, part)
        await run_in_threadpool(rough.flush_to_disk)
        await run_in_threadpool(
            pending.run, lambda ctx: service.store_upload(ctx, settings, uid, path, rough, replace=replace)
        )
    return VolumeFileJson.model_validate(target_volume.get_file(path))
