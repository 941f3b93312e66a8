"""Files in volumes: who may list, read, put and remove them, and each change written down."""

from __future__ import annotations

from lakehold.directory.work import Work
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.settings import Settings
from lakehold.pipeline import reading
from lakehold.pipeline.volumes import File, Rough, Volume, valid_path
from lakehold.workspaces import files

KIND = "lakehouse.volume"


def listed(work: Work, settings: Settings, uid: str, folder: str = "") -> list[File]:
    """What is in a folder of it."""
    return files_of(work, settings, uid, "read").listed(folder)


def opened(work: Work, settings: Settings, uid: str, path: str) -> tuple[Volume, File]:
    """A file that is to be read."""
    reading.refuse_viewer(work)
    volume = files_of(work, settings, uid, "read")
    return volume, volume.file(path)


def expected(work: Work, settings: Settings, uid: str, path: str, *, replace: bool = False) -> Volume:
    """Refuse a file before it is sent, if it could not be kept."""
    work.writing()
    volume = files_of(work, settings, uid, "write")
    volume.refuse(valid_path(path), replace=replace)
    return volume


def arrived(work: Work, settings: Settings, uid: str, path: str, rough: Rough, *, replace: bool = False) -> None:
    """Keep a file that has come whole: asked once more, written down, and seen under its name after that."""
    files.kept(work, uid, expected(work, settings, uid, path, replace=replace), path, rough, replace=replace)


def removed(work: Work, settings: Settings, uid: str, path: str) -> None:
    """Take a file away."""
    work.writing()
    files.removed(work, uid, files_of(work, settings, uid, "delete_file"), path)


def files_of(work: Work, settings: Settings, uid: str, action: str) -> Volume:
    """Its files, if the caller may do this with them."""
    work.see(uid, action)
    kind = work.view.kind(work.view.resource(uid))
    if kind != KIND:
        title = work.view.policy.kinds[kind].schema.title.lower()
        raise InvalidInputError(f"A {title} has no files.", "Choose a volume.")
    work.need(action, uid)
    return Volume(settings, reading.place_of(work, uid))
