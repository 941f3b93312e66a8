"""Files of storages and destinations: those that data marts draw from, and those that reports have left."""

from __future__ import annotations

from lakehold.catalog import resource_metadata
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import quote
from lakehold.kit.settings import Settings
from lakehold.lake import readable_tables
from lakehold.lake.volumes import PartialFile, Volume, VolumeEntry, valid_path
from lakehold.workspaces import files
from lakehold.workspaces.marts import nouns

_SAYS = {nouns.DESTINATION: "to", nouns.STORAGE: "kind"}
"""In which setting each says that it is one of files."""
_FILES = "files"


def listed(ctx: RequestContext, settings: Settings, uid: str, folder: str = "") -> list[VolumeEntry]:
    """What is in a folder of it, for those who may use it."""
    return _of(ctx, settings, uid, "use").list_folder(folder)


def opened(ctx: RequestContext, settings: Settings, uid: str, path: str) -> tuple[Volume, VolumeEntry]:
    """A file that is to be read by who may use it."""
    readable_tables.refuse_impersonation(ctx)
    volume = _of(ctx, settings, uid, "use")
    return volume, volume.get_file(path)


def expected(ctx: RequestContext, settings: Settings, uid: str, path: str, *, replace: bool = False) -> Volume:
    """Refuse a file before it is sent to a storage, if it could not be kept."""
    ctx.need_writable()
    volume = _of(ctx, settings, uid, "edit", nouns.STORAGE)
    volume.refuse_name(valid_path(path), replace=replace)
    return volume


def arrived(
    ctx: RequestContext, settings: Settings, uid: str, path: str, rough: PartialFile, *, replace: bool = False
) -> None:
    """Keep a file that has come whole, asked once more."""
    files.kept(ctx, uid, expected(ctx, settings, uid, path, replace=replace), path, rough, replace=replace)


def removed(ctx: RequestContext, settings: Settings, uid: str, path: str) -> None:
    """Take a file of a storage away."""
    ctx.need_writable()
    files.removed(ctx, uid, _of(ctx, settings, uid, "edit", nouns.STORAGE), path)


def _of(ctx: RequestContext, settings: Settings, uid: str, action: str, *kinds: str) -> Volume:
    """Its files, if the caller may do this with it."""
    ctx.need_visible(uid, action)
    kind = ctx.view.kind(ctx.view.resource(uid))
    if kind not in (kinds or _SAYS):
        title = ctx.view.policy.kinds[kind].schema.title.lower()
        raise InvalidInputError(f"A {title} has no files of its own.", "Choose a storage or a destination of files.")
    ctx.need(action, uid)
    if resource_metadata.load(ctx, uid).settings.get(_SAYS[kind]) != _FILES:
        raise ConflictError(f"{quote(uid)} keeps no files.", "Choose one that does.")
    return Volume(settings, readable_tables.identifier_of(ctx, uid))
