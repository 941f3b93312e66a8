"""Files in volumes: list, read, upload and delete, each with its right and audited."""

from __future__ import annotations

from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, at_field
from lakehold.kit.settings import Settings
from lakehold.lake import readable_tables
from lakehold.lake.volumes import PartialFile, Volume, VolumeEntry, valid_path
from lakehold.workspaces import volume_files

VOLUME_KIND = "lakehouse.volume"


def list_files(ctx: RequestContext, settings: Settings, uid: str, folder: str = "") -> list[VolumeEntry]:
    """Return the files of a folder."""
    return open_volume(ctx, settings, uid, "read").list_folder(folder)


def open_file(ctx: RequestContext, settings: Settings, uid: str, path: str) -> tuple[Volume, VolumeEntry]:
    """Return a file that is to be read, and its volume."""
    readable_tables.refuse_impersonation(ctx)
    volume = open_volume(ctx, settings, uid, "read")
    return volume, volume.get_file(path)


def check_upload(ctx: RequestContext, settings: Settings, uid: str, path: str, *, replace: bool = False) -> Volume:
    """Refuse an upload before it is sent, if it could not be stored."""
    ctx.need_writable()
    volume = open_volume(ctx, settings, uid, "write")
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
    """Delete a file."""
    ctx.need_writable()
    volume_files.delete_file(ctx, uid, open_volume(ctx, settings, uid, "delete_file"), path)


def open_volume(ctx: RequestContext, settings: Settings, uid: str, action: str) -> Volume:
    """Return the volume if the caller may do this with its files."""
    with at_field("volume"):
        ctx.need_visible(uid, action)
        kind = ctx.view.kind(ctx.view.resource(uid))
        if kind != VOLUME_KIND:
            title = ctx.view.policy.kinds[kind].schema.title.lower()
            raise InvalidInputError(f"A {title} has no files.", "Choose a volume.")
        ctx.need(action, uid)
    return Volume(settings, readable_tables.identifier_of(ctx, uid))
