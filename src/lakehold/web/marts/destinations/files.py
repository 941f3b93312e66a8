"""The files that reports have left in a destination."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import Response
from fastapi.responses import FileResponse

from lakehold.api.catalog import using
from lakehold.api.frame.works import House, Reading
from lakehold.catalog import details
from lakehold.catalog.shapes import Resource
from lakehold.directory.work import Work
from lakehold.kit.clock import Moment
from lakehold.kit.settings import Settings
from lakehold.web import addresses
from lakehold.web.deliveries.ways import FILES
from lakehold.web.lakehouse import saying
from lakehold.web.routes import router
from lakehold.workspaces.marts import files

routes = router("/resources")

_MOST = 50


@routes.get("/{uid:path}/destination/file")
def download(work: Reading, house: House, uid: str, path: str = "") -> Response:
    """One of them, for who may use the destination."""
    volume, file = files.opened(work, house.settings, uid, path)
    using.note(house, work, "use", uid)
    return FileResponse(volume.on_disk(path), media_type="application/octet-stream", filename=file.name)


def about(work: Work, settings: Settings, found: Resource) -> list[tuple[str, str, str, Moment]] | None:
    """Name, address, size and time of each, the newest first. None where there are no files for the caller."""
    if "use" not in found.actions or details.read(work, found.uid).settings.get("to") != FILES:
        return None
    some = [each for each in files.listed(work, settings, found.uid) if not each.is_folder]
    here = addresses.resource(found.uid, "destination/file")
    newest = sorted(some, key=lambda each: each.changed_at, reverse=True)[:_MOST]
    return [
        (each.name, f"{here}?{urlencode({'path': each.path})}", saying.size(each.size), each.changed_at)
        for each in newest
    ]
