"""Files of a resource that has some: kept and taken away in the transaction that allows it, and written down there."""

from __future__ import annotations

from lakehold.directory.work import Work
from lakehold.pipeline.volumes import Rough, Volume, valid_path


def kept(work: Work, uid: str, volume: Volume, path: str, rough: Rough, *, replace: bool) -> None:
    """Keep a file that has come whole: written down, and seen under its name after that."""
    volume.refuse(valid_path(path), replace=replace)
    before = {"size": volume.file(path).size} if volume.has(path) else None
    work.note("put file", uid, before=before, after={"file": valid_path(path)})
    work.session.transaction.after_commit.append(lambda: volume.place(rough, path, replace=replace))


def removed(work: Work, uid: str, volume: Volume, path: str) -> None:
    """Take a file away."""
    before = {"file": valid_path(path), "size": volume.file(path).size}
    work.note("remove file", uid, before=before)
    work.session.transaction.after_commit.append(lambda: volume.remove(path))
