"""The files that reports have left in a destination."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import Response
from fastapi.responses import FileResponse

from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext
from lakehold.catalog import resource_metadata
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.settings import Settings
from lakehold.lake.volumes import VolumeEntry
from lakehold.web import urls
from lakehold.web.connections.delivery_form import FILES
from lakehold.web.lakehouse import saying
from lakehold.web.routing import router
from lakehold.workspaces.marts import files, insights

routes = router("/resources")

_MOST = 50


@routes.get("/{uid:path}/destination/file")
def download(ctx: ReadContext, platform: CurrentPlatform, uid: str, path: str = "") -> Response:
    """One of them, for who may use the destination."""
    volume, file = files.open_file(ctx, platform.settings, uid, path)
    resource_usage.record(platform, ctx, "use", uid)
    return FileResponse(volume.path_on_disk(path), media_type="application/octet-stream", filename=file.name)


Left = tuple[str, str, str, Moment]
"""Name, address, size and time of a file."""


def about(ctx: RequestContext, settings: Settings, found: ResourceView) -> list[Left] | None:
    """Each of them, the newest first. None where there are no files for the caller."""
    if "use" not in found.actions or resource_metadata.load(ctx, found.uid).settings.get("to") != FILES:
        return None
    some = [each for each in files.list_files(ctx, settings, found.uid) if not each.is_folder]
    newest = sorted(some, key=lambda each: each.changed_at, reverse=True)[:_MOST]
    return [_left(found.uid, each) for each in newest]


def last(ctx: RequestContext, settings: Settings, report: str) -> Left | None:
    """What a report has left when it was last sent, if it is there and the caller may have it."""
    delivered = insights.report_insight(ctx, report)
    to, places = delivered.destination, delivered.delivered.places
    if to is None or not places or not ctx.session.check(ctx.asker, "use", to.uid):
        return None
    if resource_metadata.load(ctx, to.uid).settings.get("to") != FILES:
        return None
    there = (each for each in files.list_files(ctx, settings, to.uid) if each.path == places[0])
    return next((_left(to.uid, each) for each in there), None)


def _left(uid: str, file: VolumeEntry) -> Left:
    here = f"{urls.resource(uid, 'destination/file')}?{urlencode({'path': file.path})}"
    return file.name, here, saying.size(file.size), file.changed_at
