"""Files of a resource that has some: stored and deleted after the commit of the transaction that allows
and audits it.
"""

from __future__ import annotations

from lakehold.directory.request_context import RequestContext
from lakehold.lake.volumes import PartialFile, Volume, valid_path


def store_file(ctx: RequestContext, uid: str, volume: Volume, path: str, rough: PartialFile, *, replace: bool) -> None:
    """Audit and store an uploaded file; it appears under its name after the commit."""
    volume.refuse_name(valid_path(path), replace=replace)
    before = {"size": volume.get_file(path).size} if volume.exists(path) else None
    ctx.note("put file", uid, before=before, after={"file": valid_path(path)})
    ctx.session.transaction.after_commit.append(lambda: volume.publish(rough, path, replace=replace))


def delete_file(ctx: RequestContext, uid: str, volume: Volume, path: str) -> None:
    """Audit and delete a file after the commit."""
    before = {"file": valid_path(path), "size": volume.get_file(path).size}
    ctx.note("remove file", uid, before=before)
    ctx.session.transaction.after_commit.append(lambda: volume.remove(path))
