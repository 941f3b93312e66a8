"""Files of a kind of resource: listed, read, uploaded and deleted, each with its right and audited."""

from collections.abc import Callable
from dataclasses import dataclass

from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.settings import Settings
from lakehold.lake import readable_tables
from lakehold.lake.volumes import PartialFile, Volume, VolumeEntry, valid_path


@dataclass(frozen=True, slots=True, kw_only=True)
class FileService:
    """The files of a kind of resource, and the actions that reading, uploading and deleting them need.

    Files are stored and deleted after the commit of the transaction that allows and audits it.
    """

    read: str
    write: str
    remove: str
    open_volume: Callable[[RequestContext, Settings, str, str], Volume]
    """Returns the volume of a resource if the caller may perform an action on it."""

    def list_files(self, ctx: RequestContext, settings: Settings, uid: str, folder: str = "") -> list[VolumeEntry]:
        """Return the files of a folder."""
        return self.open_volume(ctx, settings, uid, self.read).list_folder(folder)

    def open_file(self, ctx: RequestContext, platform: Platform, uid: str, path: str) -> tuple[Volume, VolumeEntry]:
        """Return a file that is sent to the caller, and its volume."""
        readable_tables.refuse_impersonation(ctx)
        volume = self.open_volume(ctx, platform.settings, uid, self.read)
        found = volume.get_file(path)
        platform.record_read(ctx.caller, "download", uid, file=found.path)
        return volume, found

    def need_file(self, ctx: RequestContext, settings: Settings, uid: str, path: str) -> None:
        """Refuse unless the caller may delete this file, and it exists."""
        readable_tables.refuse_impersonation(ctx)
        self.open_volume(ctx, settings, uid, self.remove).get_file(path)

    def check_upload(
        self, ctx: RequestContext, settings: Settings, uid: str, path: str, *, replace: bool = False
    ) -> Volume:
        """Refuse an upload before it is sent, if it could not be stored."""
        ctx.need_writable()
        volume = self.open_volume(ctx, settings, uid, self.write)
        volume.refuse_name(valid_path(path), replace=replace)
        return volume

    def store_upload(
        self, ctx: RequestContext, settings: Settings, uid: str, path: str, rough: PartialFile, *, replace: bool = False
    ) -> None:
        """Store a completed upload, after checking access again."""
        volume = self.check_upload(ctx, settings, uid, path, replace=replace)
        before = {"size": volume.get_file(path).size} if volume.exists(path) else None
        ctx.note("put file", uid, before=before, after={"file": valid_path(path)})
        ctx.session.transaction.after_commit.append(lambda: volume.publish(rough, path, replace=replace))

    def delete_file(self, ctx: RequestContext, settings: Settings, uid: str, path: str) -> None:
        """Delete a file."""
        ctx.need_writable()
        volume = self.open_volume(ctx, settings, uid, self.remove)
        ctx.note("remove file", uid, before={"file": valid_path(path), "size": volume.get_file(path).size})
        ctx.session.transaction.after_commit.append(lambda: volume.remove(path))
