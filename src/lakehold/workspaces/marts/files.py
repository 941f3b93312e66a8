"""Files of storages and destinations: those that data marts draw from, and those that reports have left."""

from __future__ import annotations

from lakehold.catalog import details
from lakehold.directory.work import Work
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import shown
from lakehold.kit.settings import Settings
from lakehold.pipeline import reading
from lakehold.pipeline.volumes import File, Rough, Volume, valid_path
from lakehold.workspaces import files
from lakehold.workspaces.marts import nouns

_SAYS = {nouns.DESTINATION: "to", nouns.STORAGE: "kind"}
"""In which setting each says that it is one of files."""
_FILES = "files"


def listed(work: Work, settings: Settings, uid: str, folder: str = "") -> list[File]:
    """What is in a folder of it, for those who may use it."""
    return _of(work, settings, uid, "use").listed(folder)


def opened(work: Work, settings: Settings, uid: str, path: str) -> tuple[Volume, File]:
    """A file that is to be read by who may use it."""
    reading.refuse_viewer(work)
    volume = _of(work, settings, uid, "use")
    return volume, volume.file(path)


def expected(work: Work, settings: Settings, uid: str, path: str, *, replace: bool = False) -> Volume:
    """Refuse a file before it is sent to a storage, if it could not be kept."""
    work.writing()
    volume = _of(work, settings, uid, "edit", nouns.STORAGE)
    volume.refuse(valid_path(path), replace=replace)
    return volume


def arrived(work: Work, settings: Settings, uid: str, path: str, rough: Rough, *, replace: bool = False) -> None:
    """Keep a file that has come whole, asked once more."""
    files.kept(work, uid, expected(work, settings, uid, path, replace=replace), path, rough, replace=replace)


def removed(work: Work, settings: Settings, uid: str, path: str) -> None:
    """Take a file of a storage away."""
    work.writing()
    files.removed(work, uid, _of(work, settings, uid, "edit", nouns.STORAGE), path)


def _of(work: Work, settings: Settings, uid: str, action: str, *kinds: str) -> Volume:
    """Its files, if the caller may do this with it."""
    work.see(uid, action)
    kind = work.view.kind(work.view.resource(uid))
    if kind not in (kinds or _SAYS):
        title = work.view.policy.kinds[kind].schema.title.lower()
        raise InvalidInputError(f"A {title} has no files of its own.", "Choose a storage or a destination of files.")
    work.need(action, uid)
    if details.read(work, uid).settings.get(_SAYS[kind]) != _FILES:
        raise ConflictError(f"{shown(uid)} keeps no files.", "Choose one that does.")
    return Volume(settings, reading.place_of(work, uid))
