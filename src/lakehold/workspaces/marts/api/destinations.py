"""Endpoints of destinations. The secret of a live one, and files that reports have delivered."""

from __future__ import annotations

from fastapi import Response
from pydantic import Field

from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext
from lakehold.api.http.models import IdText, PlainText, ResponseModel, Time, to_datetime
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.api.lake.files import DOWNLOAD, FilePath, VolumeFileJson, files_page, send_file
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote
from lakehold.workspaces.marts.live import secrets
from lakehold.workspaces.marts.storages import FILES

routes = make_router("/api/v1/destinations", "Destinations")


class LiveSecretJson(ResponseModel):
    """The metadata of a live destination's secret."""

    prefix: str = Field(examples=["lhp_4fK0aQx9Zb"], description="How it begins.")
    made_by: str = Field(examples=["tara"])
    made_at: Time
    used_at: Time | None = Field(description="When something was last pulled with it; null if never.")


class CreatedLiveSecretJson(ResponseModel):
    """A new secret, which is never shown again."""

    made: LiveSecretJson
    secret: str = Field(examples=["lhp_4fK0aQx9Zb_…"])


@routes.get("/{destination}/secret")
def get_live_secret(ctx: ReadContext, destination: IdText) -> LiveSecretJson:
    """Get the metadata of a live destination's secret, for those who may edit it."""
    found = secrets.get_secret(ctx, destination)
    if found is None:
        raise NotFoundError(f"The destination {quote(destination)} has no secret.", "Make one.")
    return _live_secret_json(found)


@routes.post("/{destination}/secret", status_code=201, responses=problem_responses(409))
def make_live_secret(ctx: WriteContext, destination: IdText) -> CreatedLiveSecretJson:
    """Create the secret of a live destination.

    The previous one is invalid at once. It is shown once, and stored as a hash.
    """
    made = secrets.create_secret(ctx, destination)
    return CreatedLiveSecretJson(made=_live_secret_json(made.secret), secret=made.text)


@routes.delete("/{destination}/secret", status_code=204, responses=problem_responses(409))
def revoke_live_secret(ctx: WriteContext, destination: IdText) -> None:
    """Revoke the secret of a live destination. Nothing can be pulled until another one is created."""
    secrets.revoke_secret(ctx, destination)


@routes.get("/{destination}/files")
def list_delivered_files(
    ctx: ReadContext, platform: CurrentPlatform, paged: PageParams, destination: IdText, folder: PlainText = ""
) -> PageResponse[VolumeFileJson]:
    """List files that reports have delivered to a destination, for those who may use it."""
    return files_page(paged, FILES.list_files(ctx, platform.settings, destination, folder), folder)


@routes.get("/{destination}/files/{path:path}", **DOWNLOAD)
def download_delivered_file(
    ctx: ReadContext, platform: CurrentPlatform, destination: IdText, path: FilePath
) -> Response:
    """Download a file that a report has delivered, for those who may use the destination."""
    return send_file(*FILES.open_file(ctx, platform.settings, destination, path))


def _live_secret_json(found: secrets.DestinationSecret) -> LiveSecretJson:
    used = to_datetime(found.used_at) if found.used_at else None
    return LiveSecretJson(prefix=found.prefix, made_by=found.made_by, made_at=to_datetime(found.made_at), used_at=used)
