"""The files of volumes: a folder for each volume, by the numbers of its tenant and of itself.

What people call a file is its name on disk too, so that Spark and other tools read it as what it is. So a name is
looked at with care: it stays inside of its folder, and what begins with a dot is nobody's but the platform's.
A file arrives under a rough name and is moved when it is whole: nobody reads half of one.
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
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError, UnavailableError
from lakehold.kit.ids import quote, valid_name
from lakehold.kit.settings import Settings
from lakehold.pipeline.lake import Place

HOUSE = ".lakehold"
"""The hidden folder in each volume: what is arriving, and receipts of what was delivered."""
_ROUGH, _LEFT = "arriving-", 24 * 3600
"""What a file is called that is on its way, and after how many seconds without a byte nobody sends it any more."""
_DEEPEST = 10
_LONGEST = 200
_OWNER_ONLY = 0o700
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclass(frozen=True, slots=True)
class File:
    """A file or a folder in a volume."""

    path: str
    is_folder: bool
    size: int
    changed_at: Moment

    @property
    def name(self) -> str:
        """Its last part."""
        return self.path.rpartition("/")[2]


class Volume:
    """The files of one volume."""

    def __init__(self, settings: Settings, place: Place) -> None:
        self.folder = settings.volumes_folder / place.namespace / place.table
        """From numbers alone."""

    def listed(self, folder: str = "") -> list[File]:
        """What is in a folder: folders first, then files, each by name."""
        where = self.inside(folder)
        if folder and not where.is_dir():
            raise NotFoundError(f"There is no folder {quote(folder)}.", "Look at the folder above it.")
        try:
            entries = list(os.scandir(where))
        except FileNotFoundError:
            return []  # Nothing was ever put here.
        found = [_file(entry, folder) for entry in entries if not entry.name.startswith(".") and not entry.is_symlink()]
        return sorted(found, key=lambda file: (not file.is_folder, file.name.casefold(), file.name))

    def file(self, path: str) -> File:
        """One file, or a refusal if it is not there."""
        at = self._at(path)
        if at.is_symlink() or not at.is_file():
            raise NotFoundError(f"There is no file {quote(path)}.", "Look it up in the list of files.")
        told = at.stat()
        return File(valid_path(path), is_folder=False, size=told.st_size, changed_at=_moment(told))

    def on_disk(self, path: str) -> Path:
        """Where a file lies, for those that read it."""
        self.file(path)
        return self._at(path)

    def inside(self, folder: str) -> Path:
        """Where a folder lies, for those that write into it."""
        return self._at(folder) if folder else self.folder

    def has(self, path: str) -> bool:
        """Whether there is something of this name."""
        return self._at(path).exists()

    @contextmanager
    def arriving(self) -> Iterator[Rough]:
        """A file that is on its way; gone if it is not placed."""
        platform = self.folder / HOUSE
        rough = platform / f"{_ROUGH}{token_hex(8)}"
        try:
            platform.mkdir(parents=True, exist_ok=True, mode=_OWNER_ONLY)
            _sweep(platform)
            with rough.open("xb") as opened:
                yield Rough(opened, rough)
        except OSError as error:
            raise clear(error) from error
        finally:
            rough.unlink(missing_ok=True)

    def place(self, rough: Rough, path: str, *, replace: bool) -> File:
        """Let it be seen under its name."""
        self.refuse(path, replace=replace)
        at = self._at(path)
        try:
            rough.settle()
            at.parent.mkdir(parents=True, exist_ok=True)
            if replace or not _linked(rough.path, at):
                rough.path.replace(at)
        except FileExistsError:
            raise _taken(path) from None
        except OSError as error:
            raise clear(error) from error
        return self.file(path)

    def refuse(self, path: str, *, replace: bool) -> None:
        """Refuse a name that no new file can have here."""
        at = self._at(path)
        if at.is_dir():
            raise ConflictError(f"{quote(path)} is a folder.", "Choose another name.")
        if at.exists() and not replace:
            raise _taken(path)
        above = next((parent for parent in at.parents if parent.exists()), self.folder)
        if not above.is_dir():
            raise ConflictError(f"A part of {quote(path)} is a file and no folder.", "Choose another folder.")

    def remove(self, path: str) -> None:
        """Take a file away, and the folders that are empty then."""
        self.file(path)
        at = self._at(path)
        at.unlink()
        for parent in at.parents:
            if parent == self.folder:
                break
            with suppress(OSError):
                parent.rmdir()

    def end(self) -> None:
        """The volume has come to its end, and so have its files."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _at(self, path: str) -> Path:
        return self.folder.joinpath(*valid_path(path).split("/"))


@dataclass(frozen=True, slots=True)
class Rough:
    """A file that is on its way."""

    file: IO[bytes]
    path: Path

    def write(self, part: bytes) -> None:
        """Add a part of it."""
        self.file.write(part)

    def settle(self) -> None:
        """Let all of it be on the disk, or say that it has no room: before anybody is told that the file is there."""
        self.file.flush()
        os.fsync(self.file.fileno())


def valid_path(path: str) -> str:
    """The name of a file, perhaps in folders, or a refusal that says why it cannot be one."""
    parts = unicodedata.normalize("NFC", path).split("/")
    if len(parts) > _DEEPEST:
        raise InvalidInputError(f"A file lies in {_DEEPEST - 1} folders at the most.", "Choose fewer.")
    for part in parts:
        valid_name(part, "name of a file")
        if part.startswith(".") or part != part.strip() or "\\" in part or len(part.encode()) > _LONGEST:
            raise InvalidInputError(
                f"A file cannot be called {quote(part)}.",
                f"Leave out backslashes, a dot at the beginning and spaces at the ends; use {_LONGEST} bytes at most.",
            )
    return "/".join(parts)


def _file(entry: os.DirEntry[str], folder: str) -> File:
    told = entry.stat(follow_symlinks=False)
    path = f"{valid_path(folder)}/{entry.name}" if folder else entry.name
    return File(path, entry.is_dir(), 0 if entry.is_dir() else told.st_size, _moment(told))


def _sweep(platform: Path) -> None:
    """Take away what processes have left that were killed while a file arrived."""
    since = time.time() - _LEFT
    for entry in os.scandir(platform):
        with suppress(FileNotFoundError):
            if entry.name.startswith(_ROUGH) and entry.stat(follow_symlinks=False).st_mtime < since:
                Path(entry.path).unlink()


def _linked(rough: Path, at: Path) -> bool:
    """Let it have its name, unless another has got it in this moment. False where a file has only one name."""
    try:
        os.link(rough, at)
    except FileExistsError:
        raise
    except OSError:
        return False
    return True


def _taken(path: str) -> ConflictError:
    return ConflictError(f"There is a file {quote(path)} already.", "Replace it, or choose another name.")


def _moment(told: os.stat_result) -> Moment:
    return told.st_mtime_ns * SECOND // 1_000_000_000


def clear(error: OSError) -> UnavailableError:
    """What a disk says, in words for whoever sent a file."""
    if error.errno in _FULL:
        return UnavailableError("The disk is full: the file was not kept.", "Make room, then send it again.")
    return UnavailableError("The folder of the volume cannot be written.", "Ask whoever keeps the machine.")
