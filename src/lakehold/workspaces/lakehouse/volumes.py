"""Files in volumes: who may list, read, put and remove them, and each change written down."""

from __future__ import annotations

from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.settings import Settings
from lakehold.lake import readable_tables
from lakehold.lake.volumes import PartialFile, Volume, VolumeEntry, valid_path
from lakehold.workspaces import files

KIND = "lakehouse.volume"


def listed(ctx: RequestContext, settings: Settings, uid: str, folder: str = "") -> list[VolumeEntry]:
    """What is in a folder of it."""
    return files_of(ctx, settings, uid, "read").list_folder(folder)


def opened(ctx: RequestContext, settings: Settings, uid: str, path: str) -> tuple[Volume, VolumeEntry]:
    """A file that is to be read."""
    readable_tables.refuse_impersonation(ctx)
    volume = files_of(ctx, settings, uid, "read")
    return volume, volume.get_file(path)


def expected(ctx: RequestContext, settings: Settings, uid: str, path: str, *, replace: bool = False) -> Volume:
    """Refuse a file before it is sent, if it could not be kept."""
    ctx.need_writable()
    volume = files_of(ctx, settings, uid, "write")
    volume.refuse_name(valid_path(path), replace=replace)
    return volume


def arrived(
    ctx: RequestContext, settings: Settings, uid: str, path: str, rough: PartialFile, *, replace: bool = False
) -> None:
    """Keep a file that has come whole: asked once more, written down, and seen under its name after that."""
    files.kept(ctx, uid, expected(ctx, settings, uid, path, replace=replace), path, rough, replace=replace)


def removed(ctx: RequestContext, settings: Settings, uid: str, path: str) -> None:
    """Take a file away."""
    ctx.need_writable()
    files.removed(ctx, uid, files_of(ctx, settings, uid, "delete_file"), path)


def files_of(ctx: RequestContext, settings: Settings, uid: str, action: str) -> Volume:
    """Its files, if the caller may do this with them."""
    ctx.need_visible(uid, action)
    kind = ctx.view.kind(ctx.view.resource(uid))
    if kind != KIND:
        title = ctx.view.policy.kinds[kind].schema.title.lower()
        raise InvalidInputError(f"A {title} has no files.", "Choose a volume.")
    ctx.need(action, uid)
    return Volume(settings, readable_tables.identifier_of(ctx, uid))
