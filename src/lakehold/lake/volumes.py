"""Files of volumes: one folder for each volume, identified by the numbers of its tenant and its own.

A file's name is also its name on disk, so that Spark and other tools recognise it. Names are therefore validated: they
stay inside the folder, and names that begin with a dot belong to the platform. A file is written under a temporary name
and moved when it is complete: nobody reads half of one.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError, UnavailableError, at_field
from lakehold.kit.ids import quote, valid_name
from lakehold.kit.settings import Settings
from lakehold.lake import installation
from lakehold.lake.folder_handle import FolderHandle, open_folder
from lakehold.lake.iceberg_catalog import TableIdentifier

INTERNAL_FOLDER = ".lakehold"
"""The hidden folder in each volume: what is arriving, and receipts of what was delivered."""
_PARTIAL_PREFIX, _PARTIAL_MAX_AGE = "arriving-", 24 * 3600
"""The prefix of files that are arriving, and the seconds without a byte after which nobody sends them any more."""
_MAX_DEPTH = 10
_MAX_NAME_BYTES = 200
_MISSING = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO}
"""Also what is a link or no regular file."""
_DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclass(frozen=True, slots=True)
class VolumeEntry:
    """A file or a folder in a volume."""

    path: str
    is_folder: bool
    size: int
    changed_at: Moment

    @property
    def name(self) -> str:
        """Last part of the path."""
        return self.path.rpartition("/")[2]


class Volume:
    """The files of one volume. No part of a path in it may be a link: such a path does not exist."""

    def __init__(self, settings: Settings, place: TableIdentifier) -> None:
        self.root = settings.volumes_folder
        """The folder of all volumes."""
        installation.need_still_own(str(self.root))
        self._parts = (place.namespace, place.table)
        """From numbers alone."""
        self.folder = self.root.joinpath(*self._parts)

    def list_folder(self, folder: str = "") -> list[VolumeEntry]:
        """Return the entries of a folder: folders first, then files, each by name."""
        with at_field("folder"):
            parts = _split(folder)
        try:
            with self._open(parts) as opened:
                found = [_entry_file(each, "/".join(parts)) for each in opened.scan() if _is_listed(each)]
        except (FileNotFoundError, NotADirectoryError):
            if not folder:
                return []  # Nothing was ever put here.
            message = f"There is no folder {quote(folder)}."
            raise NotFoundError(message, "Check the parent folder.", field="folder") from None
        return sorted(found, key=lambda file: (not file.is_folder, file.name.casefold(), file.name))

    def get_file(self, path: str) -> VolumeEntry:
        """Return one file, or refuse if it does not exist."""
        with self.open_file(path) as file:
            found = os.fstat(file.fileno())
        return VolumeEntry(valid_path(path), is_folder=False, size=found.st_size, changed_at=_moment(found))

    def open_file(self, path: str) -> BinaryIO:
        """Open a file for reading, or refuse if it does not exist."""
        *parts, name = valid_path(path).split("/")
        try:
            with self._open(parts) as folder:
                return os.fdopen(folder.open_file(name), "rb")
        except OSError as error:
            if error.errno not in _MISSING:
                raise describe_disk_error(error) from error
            raise NotFoundError(f"There is no file {quote(path)}.", "Check the list of files.") from None

    def path_on_disk(self, path: str) -> Path:
        """Return the path of a file on disk, for those who can open it only by its path."""
        self.get_file(path)
        return self.folder.joinpath(*valid_path(path).split("/"))

    def folder_on_disk(self, folder: str) -> Path:
        """Return the path of a folder on disk, which need not exist."""
        return self.folder.joinpath(*_split(folder))

    def exists(self, path: str) -> bool:
        """Return whether a file or folder of this name exists."""
        try:
            found = self._stat(path)
        except NotADirectoryError:
            return False
        return found is not None and not stat.S_ISLNK(found.st_mode)

    @contextmanager
    def open_partial(self) -> Iterator[PartialFile]:
        """Open a partial file; it is removed if it is not published."""
        name = f"{_PARTIAL_PREFIX}{token_hex(8)}"
        try:
            with self._open([INTERNAL_FOLDER], create=True) as folder:
                _remove_stale(folder)
                try:
                    with os.fdopen(folder.create_file(name), "wb") as opened:
                        yield PartialFile(opened, folder, name)
                finally:
                    with suppress(FileNotFoundError):
                        folder.remove_file(name)
        except OSError as error:
            raise describe_disk_error(error) from error

    def publish(self, partial: PartialFile, path: str, *, replace: bool) -> VolumeEntry:
        """Move a partial file to its name."""
        self.refuse_name(path, replace=replace)
        *parts, name = valid_path(path).split("/")
        try:
            partial.flush_to_disk()
            with self._open(parts, create=True) as folder:
                if replace or not folder.link_in(partial.folder, partial.name, name):
                    folder.move_in(partial.folder, partial.name, name)
        except FileExistsError:
            raise _name_taken(path) from None
        except OSError as error:
            raise describe_disk_error(error) from error
        return self.get_file(path)

    def refuse_name(self, path: str, *, replace: bool) -> None:
        """Refuse a name that no new file can have here."""
        try:
            found = self._stat(path)
        except NotADirectoryError:
            message = f"A part of {quote(path)} is a file, not a folder."
            raise ConflictError(message, "Choose another folder.") from None
        if found is not None and stat.S_ISDIR(found.st_mode):
            raise ConflictError(f"{quote(path)} is a folder.", "Choose another name.")
        if found is not None and not replace:
            raise _name_taken(path)

    def remove(self, path: str) -> None:
        """Delete a file, and the folders that are empty afterwards."""
        self.get_file(path)
        *parts, name = valid_path(path).split("/")
        with self._open(parts) as folder:
            folder.remove_file(name)
        while parts:
            *parts, name = parts
            with suppress(OSError), self._open(parts) as folder:
                folder.remove_folder(name)

    def delete(self) -> None:
        """Delete the volume with all its files."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _open(self, parts: Sequence[str], *, create: bool = False) -> AbstractContextManager[FolderHandle]:
        return open_folder(self.root, (*self._parts, *parts), create=create)

    def _stat(self, path: str) -> os.stat_result | None:
        """Return what is there, or None; raise NotADirectoryError if a part before it is no folder."""
        *parts, name = valid_path(path).split("/")
        try:
            with self._open(parts) as folder:
                return folder.stat(name)
        except FileNotFoundError:
            return None


@dataclass(frozen=True, slots=True)
class PartialFile:
    """A file that is still being written, and where."""

    file: BinaryIO
    folder: FolderHandle
    name: str

    def write(self, part: bytes) -> None:
        """Append a part of the file."""
        self.file.write(part)

    def flush_to_disk(self) -> None:
        """Flush the file to disk, so that a full disk is noticed before the file is reported as stored."""
        self.file.flush()
        os.fsync(self.file.fileno())


def _split(path: str) -> list[str]:
    """Return the parts of a folder's path; none for the volume itself."""
    return valid_path(path).split("/") if path else []


def valid_path(path: str) -> str:
    """Return the normalised path of a file, or refuse with the reason."""
    parts = unicodedata.normalize("NFC", path).split("/")
    if len(parts) > _MAX_DEPTH:
        raise InvalidInputError(f"A file lies in {_MAX_DEPTH - 1} folders at most.", "Choose fewer.")
    for part in parts:
        valid_name(part, "name of a file")
        if part.startswith(".") or part != part.strip() or "\\" in part or len(part.encode()) > _MAX_NAME_BYTES:
            raise InvalidInputError(
                f"A file cannot be called {quote(part)}.",
                "Leave out backslashes, a dot at the beginning and spaces at the ends;"
                f" use {_MAX_NAME_BYTES} bytes at most.",
            )
    return "/".join(parts)


def _is_listed(entry: os.DirEntry[str]) -> bool:
    return not entry.name.startswith(".") and not entry.is_symlink()


def _entry_file(entry: os.DirEntry[str], folder: str) -> VolumeEntry:
    found = entry.stat(follow_symlinks=False)
    is_folder = stat.S_ISDIR(found.st_mode)
    path = f"{folder}/{entry.name}" if folder else entry.name
    return VolumeEntry(path, is_folder, 0 if is_folder else found.st_size, _moment(found))


def _remove_stale(folder: FolderHandle) -> None:
    """Remove partial files that killed processes have left behind."""
    since = time.time() - _PARTIAL_MAX_AGE
    for entry in folder.scan():
        with suppress(FileNotFoundError):
            if entry.name.startswith(_PARTIAL_PREFIX) and entry.stat(follow_symlinks=False).st_mtime < since:
                folder.remove_file(entry.name)


def _name_taken(path: str) -> ConflictError:
    return ConflictError(f"There is a file {quote(path)} already.", "Replace it, or choose another name.")


def _moment(found: os.stat_result) -> Moment:
    return found.st_mtime_ns * SECOND // 1_000_000_000


def describe_disk_error(error: OSError) -> UnavailableError:
    """Translate an operating system error into one that the sender of a file can read."""
    if error.errno in _DISK_FULL:
        return UnavailableError("The disk is full: the file was not stored.", "Free some space, then upload it again.")
    return UnavailableError("The folder of the volume cannot be written.", "Ask an admin.")
