"""Files of a resource that has some: kept and taken away in the transaction that allows it, and written down there."""

from __future__ import annotations

from lakehold.directory.request_context import RequestContext
from lakehold.lake.volumes import PartialFile, Volume, valid_path


def kept(ctx: RequestContext, uid: str, volume: Volume, path: str, rough: PartialFile, *, replace: bool) -> None:
    """Keep a file that has come whole: written down, and seen under its name after that."""
    volume.refuse_name(valid_path(path), replace=replace)
    before = {"size": volume.get_file(path).size} if volume.exists(path) else None
    ctx.note("put file", uid, before=before, after={"file": valid_path(path)})
    ctx.session.transaction.after_commit.append(lambda: volume.publish(rough, path, replace=replace))


def removed(ctx: RequestContext, uid: str, volume: Volume, path: str) -> None:
    """Take a file away."""
    before = {"file": valid_path(path), "size": volume.get_file(path).size}
    ctx.note("remove file", uid, before=before)
    ctx.session.transaction.after_commit.append(lambda: volume.remove(path))
