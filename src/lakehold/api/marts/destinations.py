"""Destinations: the secret of a live one, and the files that reports have left in one."""

from __future__ import annotations

from fastapi import Response
from fastapi.responses import FileResponse
from pydantic import Field

from lakehold.api.frame.models import Answer, IdText, PlainText, Time, time_of
from lakehold.api.frame.paging import Page, Paged
from lakehold.api.frame.routes import problems, router
from lakehold.api.frame.works import House, Reading, Writing
from lakehold.api.pipeline.volumes import BYTES, FilePath, VolumeFile, paged_files
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote
from lakehold.workspaces.marts import files
from lakehold.workspaces.marts.live import secrets

routes = router("/api/v1/destinations", "Destinations")


class LiveSecret(Answer):
    """The secret of a live destination, without the secret itself."""

    prefix: str = Field(examples=["lhp_4fK0aQx9Zb"], description="How it begins.")
    made_by: str = Field(examples=["tara"])
    made_at: Time
    used_at: Time | None = Field(description="When something was last pulled with it; null if never.")


class MadeLiveSecret(Answer):
    """A new secret, which is never shown again."""

    made: LiveSecret
    secret: str = Field(examples=["lhp_4fK0aQx9Zb_…"])


@routes.get("/{destination}/secret")
def get_live_secret(ctx: Reading, destination: IdText) -> LiveSecret:
    """What is known of the secret of a live destination, for those who may edit it."""
    found = secrets.get_secret(ctx, destination)
    if found is None:
        raise NotFoundError(f"The destination {quote(destination)} has no secret.", "Make one.")
    return _told(found)


@routes.post("/{destination}/secret", status_code=201, responses=problems(409))
def make_live_secret(ctx: Writing, destination: IdText) -> MadeLiveSecret:
    """Make the secret of a live destination.

    The one that it had is not valid from this moment on. It is shown once, and kept as a hash.
    """
    made = secrets.create_secret(ctx, destination)
    return MadeLiveSecret(made=_told(made.secret), secret=made.text)


@routes.delete("/{destination}/secret", status_code=204, responses=problems(409))
def revoke_live_secret(ctx: Writing, destination: IdText) -> None:
    """End the secret of a live destination. Nothing can be pulled until another one is made."""
    secrets.revoke_secret(ctx, destination)


@routes.get("/{destination}/files")
def list_delivered_files(
    ctx: Reading, platform: House, paged: Paged, destination: IdText, folder: PlainText = ""
) -> Page[VolumeFile]:
    """What reports have left in a destination that keeps files, for those who may use it."""
    return paged_files(paged, files.list_files(ctx, platform.settings, destination, folder), folder)


@routes.get(
    "/{destination}/files/{path:path}",
    response_class=FileResponse,
    responses={200: {"description": "The file", "content": {BYTES: {}}}},
)
def download_delivered_file(ctx: Reading, platform: House, destination: IdText, path: FilePath) -> Response:
    """A file as a report has left it, for those who may use the destination."""
    found, file = files.open_file(ctx, platform.settings, destination, path)
    return FileResponse(found.path_on_disk(path), media_type=BYTES, filename=file.name)


def _told(found: secrets.DestinationSecret) -> LiveSecret:
    used = time_of(found.used_at) if found.used_at else None
    return LiveSecret(prefix=found.prefix, made_by=found.made_by, made_at=time_of(found.made_at), used_at=used)
