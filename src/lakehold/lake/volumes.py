"""Files of volumes: one folder for each volume, identified by the numbers of its tenant and its own.

A file's name is also its name on disk, so that Spark and other tools recognise it. Names are therefore validated: they
stay inside the folder, and names that begin with a dot belong to the platform. A file is written under a temporary name
and moved when it is complete: nobody reads half of one.
"""

from __future__ import annotations

import errno
import os
import shutil
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import IO

from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError, UnavailableError, at_field
from lakehold.kit.ids import quote, valid_name
from lakehold.kit.settings import Settings
from lakehold.lake.iceberg_catalog import TableIdentifier

INTERNAL_FOLDER = ".lakehold"
"""The hidden folder in each volume: what is arriving, and receipts of what was delivered."""
_PARTIAL_PREFIX, _PARTIAL_MAX_AGE = "arriving-", 24 * 3600
"""The prefix of files that are arriving, and the seconds without a byte after which nobody sends them any more."""
_MAX_DEPTH = 10
_MAX_NAME_BYTES = 200
_OWNER_ONLY = 0o700
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
    """The files of one volume."""

    def __init__(self, settings: Settings, place: TableIdentifier) -> None:
        self.folder = settings.volumes_folder / place.namespace / place.table
        """From numbers alone."""

    def list_folder(self, folder: str = "") -> list[VolumeEntry]:
        """Return the entries of a folder: folders first, then files, each by name."""
        with at_field("folder"):
            where = self.folder_on_disk(folder)
        if folder and not where.is_dir():
            raise NotFoundError(f"There is no folder {quote(folder)}.", "Check the parent folder.", field="folder")
        try:
            entries = list(os.scandir(where))
        except FileNotFoundError:
            return []  # Nothing was ever put here.
        found = [
            _entry_file(entry, folder) for entry in entries if not entry.name.startswith(".") and not entry.is_symlink()
        ]
        return sorted(found, key=lambda file: (not file.is_folder, file.name.casefold(), file.name))

    def get_file(self, path: str) -> VolumeEntry:
        """Return one file, or refuse if it does not exist."""
        at = self._at(path)
        if at.is_symlink() or not at.is_file():
            raise NotFoundError(f"There is no file {quote(path)}.", "Check the list of files.")
        stat = at.stat()
        return VolumeEntry(valid_path(path), is_folder=False, size=stat.st_size, changed_at=_moment(stat))

    def path_on_disk(self, path: str) -> Path:
        """Return the path of a file on disk, for reading."""
        self.get_file(path)
        return self._at(path)

    def folder_on_disk(self, folder: str) -> Path:
        """Return the path of a folder on disk, for writing into it."""
        return self._at(folder) if folder else self.folder

    def exists(self, path: str) -> bool:
        """Return whether a file or folder of this name exists."""
        return self._at(path).exists()

    @contextmanager
    def open_partial(self) -> Iterator[PartialFile]:
        """Open a partial file; it is removed if it is not published."""
        internal_folder = self.folder / INTERNAL_FOLDER
        partial = internal_folder / f"{_PARTIAL_PREFIX}{token_hex(8)}"
        try:
            internal_folder.mkdir(parents=True, exist_ok=True, mode=_OWNER_ONLY)
            _remove_stale(internal_folder)
            with partial.open("xb") as opened:
                yield PartialFile(opened, partial)
        except OSError as error:
            raise describe_disk_error(error) from error
        finally:
            partial.unlink(missing_ok=True)

    def publish(self, partial: PartialFile, path: str, *, replace: bool) -> VolumeEntry:
        """Move a partial file to its name."""
        self.refuse_name(path, replace=replace)
        at = self._at(path)
        try:
            partial.flush_to_disk()
            at.parent.mkdir(parents=True, exist_ok=True)
            if replace or not _link_new(partial.path, at):
                partial.path.replace(at)
        except FileExistsError:
            raise _name_taken(path) from None
        except OSError as error:
            raise describe_disk_error(error) from error
        return self.get_file(path)

    def refuse_name(self, path: str, *, replace: bool) -> None:
        """Refuse a name that no new file can have here."""
        at = self._at(path)
        if at.is_dir():
            raise ConflictError(f"{quote(path)} is a folder.", "Choose another name.")
        if at.exists() and not replace:
            raise _name_taken(path)
        above = next((parent for parent in at.parents if parent.exists()), self.folder)
        if not above.is_dir():
            raise ConflictError(f"A part of {quote(path)} is a file, not a folder.", "Choose another folder.")

    def remove(self, path: str) -> None:
        """Delete a file, and the folders that are empty afterwards."""
        at = self.path_on_disk(path)
        at.unlink()
        for parent in at.parents:
            if parent == self.folder:
                break
            with suppress(OSError):
                parent.rmdir()

    def delete(self) -> None:
        """Delete the volume with all its files."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _at(self, path: str) -> Path:
        return self.folder.joinpath(*valid_path(path).split("/"))


@dataclass(frozen=True, slots=True)
class PartialFile:
    """A file that is still being written."""

    file: IO[bytes]
    path: Path

    def write(self, part: bytes) -> None:
        """Append a part of the file."""
        self.file.write(part)

    def flush_to_disk(self) -> None:
        """Flush the file to disk, so that a full disk is noticed before the file is reported as stored."""
        self.file.flush()
        os.fsync(self.file.fileno())


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


def _entry_file(entry: os.DirEntry[str], folder: str) -> VolumeEntry:
    stat = entry.stat(follow_symlinks=False)
    path = f"{valid_path(folder)}/{entry.name}" if folder else entry.name
    return VolumeEntry(path, entry.is_dir(), 0 if entry.is_dir() else stat.st_size, _moment(stat))


def _remove_stale(internal_folder: Path) -> None:
    """Remove partial files that killed processes have left behind."""
    since = time.time() - _PARTIAL_MAX_AGE
    for entry in os.scandir(internal_folder):
        with suppress(FileNotFoundError):
            if entry.name.startswith(_PARTIAL_PREFIX) and entry.stat(follow_symlinks=False).st_mtime < since:
                Path(entry.path).unlink()


def _link_new(partial: Path, at: Path) -> bool:
    """Link the file to its name unless the name has been taken meanwhile. False where hard links are not supported."""
    try:
        os.link(partial, at)
    except FileExistsError:
        raise
    except OSError:
        return False
    return True


def _name_taken(path: str) -> ConflictError:
    return ConflictError(f"There is a file {quote(path)} already.", "Replace it, or choose another name.")


def _moment(stat: os.stat_result) -> Moment:
    return stat.st_mtime_ns * SECOND // 1_000_000_000


def describe_disk_error(error: OSError) -> UnavailableError:
    """Translate an operating system error into one that the sender of a file can read."""
    if error.errno in _DISK_FULL:
        return UnavailableError("The disk is full: the file was not stored.", "Free some space, then upload it again.")
    return UnavailableError("The folder of the volume cannot be written.", "Ask an admin.")
