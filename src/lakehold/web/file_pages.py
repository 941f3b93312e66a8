"""The files of a resource that has some: list, upload, download and delete."""

import shutil
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import ClientDisconnect

from lakehold.api.catalog import resource_usage
from lakehold.api.http.authentication import read_credentials
from lakehold.api.http.dependencies import CurrentPlatform, PendingRequest, ReadContext, WriteContext, get_platform
from lakehold.api.http.middleware import MAX_BODY_BYTES, allow_body_size
from lakehold.api.lake.files import send_file
from lakehold.catalog import kinds, resources
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, UnavailableError
from lakehold.lake.volumes import VolumeEntry, describe_disk_error
from lakehold.web import pages, routing, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.confirmation import need_confirmation
from lakehold.web.cookies import Flash
from lakehold.web.labels import format_count
from lakehold.web.list_view import ListState
from lakehold.web.navigation import Breadcrumb
from lakehold.web.routing import PageRoute, SubmittedForm, router
from lakehold.web.runs import labels
from lakehold.workspaces.registry import find_file_service
from lakehold.workspaces.volume_files import FileService


def file_holder(ctx: RequestContext, uid: str) -> FileService:
    """Return the file service of a resource; raise InvalidInputError if it has none."""
    ctx.need_visible(uid)
    schema = ctx.session.read_view(lambda view: kinds.schema_of(view, uid))
    found = find_file_service(schema.id)
    if found is None:
        raise InvalidInputError(f"A {schema.title.lower()} has no files.", "Choose a volume.")
    return found


_SORTS = {"size": lambda file: file.size, "changed": lambda file: file.changed_at}


class UploadRoute(PageRoute):
    """A route that accepts large bodies. It checks the right to upload before it reads the body.

    A small body of somebody whose session has expired is read, as that of any other form.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap the handler of the page."""
        inner = super().get_route_handler()

        async def roomy(request: Request) -> Response:
            try:
                await run_in_threadpool(_check_upload_right, request)
                allow_body_size(request.scope, get_platform(request).settings.upload_megabytes * 1_000_000)
            except UnauthorizedError:
                if not _is_small(request):
                    flash = Flash("Your session has expired. Sign in, and select your files again.", tone="warn")
                    return pages.redirect(request, routing.sign_in_url(request.url.path), flash)
            except Exception as error:  # noqa: BLE001 - as the one handler of pages
                return routing.error_page(request, error)
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


def _is_small(request: Request) -> bool:
    length = request.headers.get("content-length", "")
    return length.isdigit() and int(length) <= MAX_BODY_BYTES


uploads = APIRouter(prefix="/resources", route_class=UploadRoute, redirect_slashes=False, include_in_schema=False)


@routes.get("/{uid:path}/files")
@routes.get("/{uid:path}/files/in/{folder:path}")
def files_page(request: Request, ctx: ReadContext, platform: CurrentPlatform, uid: str, folder: str = "") -> Response:
    """Render the files of a folder."""
    found, held = resources.get(ctx, uid), file_holder(ctx, uid)
    here = _folder_url(uid, folder)
    listing = replace(ListState.from_request(request, ("name", "size", "-changed")), path=here)
    listed = [
        file
        for file in held.list_files(ctx, platform.settings, uid, folder)
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
        "tab": _folder_url(uid),
        "folder": folder,
        "way": _folder_crumbs(uid, folder),
        "listing": listing,
        "at": lambda path: _folder_url(uid, path),
        "rows": [(n, file, _file_actions(ctx, uid, held, file)) for n, file in enumerate(listing.slice_page(listed))],
        "total": len(listed),
        "uploading": resource_header.actions_of(ctx, uid, {held.write: PageAction("Upload", icon="plus")})[0],
        "most": labels.format_size(platform.settings.upload_megabytes * 1_000_000),
    }
    return pages.render(request, "files/files.html", values)


@routes.get("/{uid:path}/files/download")
def download(ctx: ReadContext, platform: CurrentPlatform, uid: str, path: str = "") -> Response:
    """Download a file."""
    held = file_holder(ctx, uid)
    volume, file = held.open_file(ctx, platform, uid, path)
    resource_usage.record(platform, ctx, held.read, uid)
    return send_file(volume, file)


@uploads.post("/{uid:path}/files")
def upload(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Upload files, each by itself: a refused one does not stop the others."""
    replaces = bool(sent.get("replace"))
    folder = "/".join(part for part in (_text(sent, "folder"), _text(sent, "new_folder")) if part)
    given = [each for each in sent.getlist("files") if isinstance(each, UploadFile) and each.filename]
    kept, refused = 0, list[str]()
    for each in given:
        name = (each.filename or "").replace("\\", "/").rpartition("/")[2]
        try:
            _store_upload(request, uid, f"{folder}/{name}" if folder else name, each, replaces=replaces)
            kept += 1
        except (InvalidInputError, ConflictError, UnavailableError) as error:
            refused.append(str(error))
    if not given:
        refused.append("Select a file first.")
    there = _folder_url(uid, folder if kept else _text(sent, "folder"))
    words = " ".join([*([f"{format_count(kept, 'file')} uploaded."] if kept else []), *refused])
    tone = "warn" if kept and refused else "bad" if refused else "good"
    return pages.redirect(request, there, Flash(words, tone=tone))


@routes.post("/{uid:path}/files/remove")
def remove(request: Request, ctx: WriteContext, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Delete a file, after a confirmation."""
    path = str(sent.get("path", ""))
    folder, _, name = path.rpartition("/")
    back = _folder_url(uid, folder)
    held = file_holder(ctx, uid)
    held.need_file(ctx, platform.settings, uid, path)
    need_confirmation(request, sent, f"Delete {name}?", "This cannot be undone.", do="Delete", back=back)
    held.delete_file(ctx, platform.settings, uid, path)
    alone = len(held.list_files(ctx, platform.settings, uid, folder)) == 1
    # A folder goes with its last file.
    return pages.redirect(request, _folder_url(uid) if alone else back, f"{name} was deleted.")


def _check_upload_right(request: Request) -> None:
    """Refuse before the body is read. The form's CSRF token is checked afterwards, when the body is known."""
    credentials = replace(read_credentials(request), safe=True)
    uid = str(request.path_params["uid"])
    PendingRequest(request, credentials, writes=False).run(lambda ctx: ctx.need(file_holder(ctx, uid).write, uid))


def _store_upload(request: Request, uid: str, path: str, each: UploadFile, *, replaces: bool) -> None:
    settings, asked = get_platform(request).settings, PendingRequest(request, read_credentials(request), writes=True)
    service = PendingRequest(request, read_credentials(request), writes=False).run(lambda ctx: file_holder(ctx, uid))
    there = asked.run(lambda ctx: service.check_upload(ctx, settings, uid, path, replace=replaces))
    with there.open_partial() as rough:
        shutil.copyfileobj(each.file, rough.file)
        rough.flush_to_disk()
        asked.run(lambda ctx: service.store_upload(ctx, settings, uid, path, rough, replace=replaces))


def _folder_crumbs(uid: str, folder: str) -> list[Breadcrumb]:
    """Return the breadcrumbs of the folders that lead to this one."""
    parts = folder.split("/") if folder else []
    return [
        Breadcrumb("All files", _folder_url(uid)),
        *(Breadcrumb(part, _folder_url(uid, "/".join(parts[:n]))) for n, part in enumerate(parts, 1)),
    ]


def _file_actions(ctx: RequestContext, uid: str, held: FileService, file: VolumeEntry) -> list[PageAction]:
    if file.is_folder:
        return []
    here = urls.resource(uid, "files")
    taken = PageAction("Download", f"{here}/download?{urlencode({'path': file.path})}", icon="download")
    gone = PageAction(
        "Delete", f"{here}/remove", "post", "trash-2", (("path", file.path),), f"Delete {file.name}?", danger=True
    )
    return resource_header.actions_of(ctx, uid, {held.read: taken, held.remove: gone}, exactly=False)


def _folder_url(uid: str, folder: str = "") -> str:
    return urls.resource(uid, f"files/in/{quote(folder)}" if folder else "files")


def _text(sent: SubmittedForm, name: str) -> str:
    return str(sent.get(name, "")).strip().strip("/")
