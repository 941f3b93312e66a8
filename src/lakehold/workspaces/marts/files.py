"""Files of storages and destinations: those that data marts read, and those that reports have written."""

from __future__ import annotations

from lakehold.catalog import resource_metadata
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import quote
from lakehold.kit.settings import Settings
from lakehold.lake import readable_tables
from lakehold.lake.volumes import PartialFile, Volume, VolumeEntry, valid_path
from lakehold.workspaces import volume_files
from lakehold.workspaces.marts import mart_kinds

_TYPE_SETTINGS = {mart_kinds.DESTINATION_KIND: "to", mart_kinds.STORAGE_KIND: "kind"}
"""In which setting each says that it is one of files."""
_FILES = "files"


def list_files(ctx: RequestContext, settings: Settings, uid: str, folder: str = "") -> list[VolumeEntry]:
    """Return the files of a folder, for those who may use the resource."""
    return _open_volume(ctx, settings, uid, "use").list_folder(folder)


def open_file(ctx: RequestContext, settings: Settings, uid: str, path: str) -> tuple[Volume, VolumeEntry]:
    """Return a file that is to be read, and its volume, for those who may use the resource."""
    readable_tables.refuse_impersonation(ctx)
    volume = _open_volume(ctx, settings, uid, "use")
    return volume, volume.get_file(path)


def check_upload(ctx: RequestContext, settings: Settings, uid: str, path: str, *, replace: bool = False) -> Volume:
    """Refuse an upload to a storage before it is sent, if it could not be stored."""
    ctx.need_writable()
    volume = _open_volume(ctx, settings, uid, "edit", mart_kinds.STORAGE_KIND)
    volume.refuse_name(valid_path(path), replace=replace)
    return volume


def store_upload(
    ctx: RequestContext, settings: Settings, uid: str, path: str, rough: PartialFile, *, replace: bool = False
) -> None:
    """Store a completed upload, after checking access again."""
    volume_files.store_file(
        ctx, uid, check_upload(ctx, settings, uid, path, replace=replace), path, rough, replace=replace
    )


def delete_file(ctx: RequestContext, settings: Settings, uid: str, path: str) -> None:
    """Delete a file of a storage."""
    ctx.need_writable()
    volume_files.delete_file(ctx, uid, _open_volume(ctx, settings, uid, "edit", mart_kinds.STORAGE_KIND), path)


def _open_volume(ctx: RequestContext, settings: Settings, uid: str, action: str, *kinds: str) -> Volume:
    """Return the files of the resource if the caller may do this with it."""
    ctx.need_visible(uid, action)
    kind = ctx.view.kind(ctx.view.resource(uid))
    if kind not in (kinds or _TYPE_SETTINGS):
        title = ctx.view.policy.kinds[kind].schema.title.lower()
        raise InvalidInputError(f"A {title} has no files of its own.", "Choose a storage or a destination of files.")
    ctx.need(action, uid)
    if resource_metadata.load(ctx, uid).settings.get(_TYPE_SETTINGS[kind]) != _FILES:
        raise ConflictError(f"{quote(uid)} keeps no files.", "Choose one that does.")
    return Volume(settings, readable_tables.identifier_of(ctx, uid))
