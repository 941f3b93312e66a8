"""The files of a volume or of a storage: look through them, bring some in, take one out, take one away."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import ClientDisconnect

from lakehold.api.catalog import resource_usage
from lakehold.api.http.authentication import read_credentials
from lakehold.api.http.dependencies import CurrentPlatform, PendingRequest, ReadContext, WriteContext, get_platform
from lakehold.api.http.middleware import allow_body_size
from lakehold.catalog import resources
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, UnavailableError
from lakehold.lake.volumes import VolumeEntry, describe_disk_error
from lakehold.web import pages, routing, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.confirmation import confirm
from lakehold.web.cookies import Flash
from lakehold.web.labels import format_count
from lakehold.web.lakehouse import holding, saying
from lakehold.web.lakehouse.holding import Holding
from lakehold.web.list_view import ListColumn, ListState
from lakehold.web.navigation import Breadcrumb
from lakehold.web.routing import PageRoute, SubmittedForm, router

_COLUMNS = [ListColumn("Name", "name"), ListColumn("Size", "size", number=True), ListColumn("Changed", "changed")]
_SORTS = {"size": lambda file: file.size, "changed": lambda file: file.changed_at}


class UploadRoute(PageRoute):
    """Takes long bodies, and only from who may put files there: that is asked before anything is read."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Around the page's own."""
        inner = super().get_route_handler()

        async def roomy(request: Request) -> Response:
            try:
                await run_in_threadpool(_let_in, request)
            except Exception as error:  # noqa: BLE001 - as the one handler of pages
                return routing.error_page(request, error)
            allow_body_size(request.scope, get_platform(request).settings.upload_megabytes * 1_000_000)
            try:
                await request.form()
                return await inner(request)
            except ClientDisconnect:
                raise
            except Exception as error:  # noqa: BLE001 - as above
                return routing.error_page(request, describe_disk_error(error) if isinstance(error, OSError) else error)
            finally:
                await request.close()  # the rough files of its form

        return roomy


routes = router("/resources")
uploads = APIRouter(prefix="/resources", route_class=UploadRoute, redirect_slashes=False, include_in_schema=False)


@routes.get("/{uid:path}/files")
@routes.get("/{uid:path}/files/in/{folder:path}")
def files_page(request: Request, ctx: ReadContext, platform: CurrentPlatform, uid: str, folder: str = "") -> Response:
    """What is in a folder of it."""
    found, held = resources.get(ctx, uid), holding.of(ctx, uid)
    here = _at(uid, folder)
    listing = replace(ListState.from_request(request, ("name", "size", "-changed")), path=here)
    listed = [
        file
        for file in held.service.list_files(ctx, platform.settings, uid, folder)
        if listing.search.casefold() in file.name.casefold()
    ]
    if by := _SORTS.get(listing.sort):
        listed.sort(key=by)
    if listing.descending:
        listed.reverse()
    listed.sort(key=lambda file: not file.is_folder)
    values: dict[str, object] = {
        "found": found,
        "crumbs": resource_header.breadcrumbs(ctx, uid, "Files"),
        "tabs": resource_header.tabs(ctx, uid),
        "tab": _at(uid),
        "folder": folder,
        "way": _way(uid, folder),
        "listing": listing,
        "columns": _COLUMNS,
        "at": lambda path: _at(uid, path),
        "rows": [(n, file, _actions(ctx, uid, held, file)) for n, file in enumerate(listing.slice_page(listed))],
        "total": len(listed),
        "uploading": resource_header.actions_of(ctx, uid, {held.write: PageAction("Upload", icon="plus")})[0],
        "most": saying.size(platform.settings.upload_megabytes * 1_000_000),
        "size": saying.size,
    }
    return pages.render(request, "lakehouse/files.html", values)


@routes.get("/{uid:path}/files/download")
def download(ctx: ReadContext, platform: CurrentPlatform, uid: str, path: str = "") -> Response:
    """One of them."""
    held = holding.of(ctx, uid)
    volume, file = held.service.open_file(ctx, platform.settings, uid, path)
    resource_usage.record(platform, ctx, held.read, uid)
    return FileResponse(volume.path_on_disk(path), media_type="application/octet-stream", filename=file.name)


@uploads.post("/{uid:path}/files")
def upload(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Bring some in, each for itself: one that cannot be kept does not keep the others out."""
    replaces = bool(sent.get("replace"))
    folder = "/".join(part for part in (_text(sent, "folder"), _text(sent, "new_folder")) if part)
    given = [each for each in sent.getlist("files") if isinstance(each, UploadFile) and each.filename]
    kept, refused = 0, list[str]()
    for each in given:
        name = (each.filename or "").replace("\\", "/").rpartition("/")[2]
        try:
            _keep(request, uid, f"{folder}/{name}" if folder else name, each, replaces=replaces)
            kept += 1
        except (InvalidInputError, ConflictError, UnavailableError) as error:
            refused.append(str(error))
    if not given:
        refused.append("Choose a file first.")
    there = _at(uid, folder if kept else _text(sent, "folder"))
    words = " ".join([*([f"{format_count(kept, 'file')} uploaded."] if kept else []), *refused])
    return pages.redirect(
        request, there, Flash(words, tone="warn" if kept and refused else "bad" if refused else "good")
    )


@routes.post("/{uid:path}/files/remove")
def remove(request: Request, ctx: WriteContext, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Take one away."""
    path = str(sent.get("path", ""))
    folder, _, name = path.rpartition("/")
    back = _at(uid, folder)
    held = holding.of(ctx, uid)
    held.service.open_file(ctx, platform.settings, uid, path)
    ctx.need(held.remove, uid)
    if question := confirm(request, sent, f"Delete {name}?", "It cannot be brought back.", do="Delete", back=back):
        return question
    held.service.delete_file(ctx, platform.settings, uid, path)
    alone = len(held.service.list_files(ctx, platform.settings, uid, folder)) == 1
    # A folder goes with its last file.
    return pages.redirect(request, _at(uid) if alone else back, Flash(f"{name} was deleted."))


def _let_in(request: Request) -> None:
    """Refuse before the body is read. Whether the form is our own is asked after it, when the token is known."""
    shown = replace(read_credentials(request), safe=True)
    uid = str(request.path_params["uid"])
    PendingRequest(request, shown, writes=False).run(lambda ctx: ctx.need(holding.of(ctx, uid).write, uid))


def _keep(request: Request, uid: str, path: str, each: UploadFile, *, replaces: bool) -> None:
    settings, asked = get_platform(request).settings, PendingRequest(request, read_credentials(request), writes=True)
    service = (
        PendingRequest(request, read_credentials(request), writes=False).run(lambda ctx: holding.of(ctx, uid)).service
    )
    there = asked.run(lambda ctx: service.check_upload(ctx, settings, uid, path, replace=replaces))
    with there.open_partial() as rough:
        shutil.copyfileobj(each.file, rough.file)
        rough.flush_to_disk()
        asked.run(lambda ctx: service.store_upload(ctx, settings, uid, path, rough, replace=replaces))


def _way(uid: str, folder: str) -> list[Breadcrumb]:
    """The folders on the way to this one."""
    parts = folder.split("/") if folder else []
    return [
        Breadcrumb("All files", _at(uid)),
        *(Breadcrumb(part, _at(uid, "/".join(parts[:n]))) for n, part in enumerate(parts, 1)),
    ]


def _actions(ctx: RequestContext, uid: str, held: Holding, file: VolumeEntry) -> list[PageAction]:
    if file.is_folder:
        return []
    here = urls.resource(uid, "files")
    taken = PageAction("Download", f"{here}/download?{urlencode({'path': file.path})}", icon="download")
    gone = PageAction(
        "Delete", f"{here}/remove", "post", "trash-2", (("path", file.path),), f"Delete {file.name}?", danger=True
    )
    return resource_header.actions_of(ctx, uid, {held.read: taken, held.remove: gone}, exactly=False)


def _at(uid: str, folder: str = "") -> str:
    return urls.resource(uid, f"files/in/{quote(folder)}" if folder else "files")


def _text(sent: SubmittedForm, name: str) -> str:
    return str(sent.get(name, "")).strip().strip("/")
