"""Folders opened part by part, so that no part of a path to a file of a volume can be a link.

Each part is opened by its name in the folder before it, which is already open: whoever replaces a folder by a link
between a check and the use of what was checked changes nothing, because the use goes through the open folder. A link
counts as neither a file nor a folder.
"""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# What is no file, such as a named pipe, must not wait for a writer.
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW_FILE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class FolderHandle:
    """An open folder. Names are of what lies in it; a link is never followed."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def stat(self, name: str) -> os.stat_result | None:
        """Return what a file, a folder or a link itself is; None if there is nothing of the name."""
        try:
            return os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def scan(self) -> list[os.DirEntry[str]]:
        """Return the entries, links too."""
        with os.scandir(self._descriptor) as entries:
            return list(entries)

    def open_file(self, name: str) -> int:
        """Open a file for reading; raise OSError unless it is a regular file."""
        opened = os.open(name, _FILE_FLAGS, dir_fd=self._descriptor)
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            os.close(opened)
            raise FileNotFoundError(errno.ENOENT, "no regular file", name)
        return opened

    def create_file(self, name: str) -> int:
        """Create a file for writing; raise FileExistsError if the name is taken."""
        return os.open(name, _NEW_FILE_FLAGS, 0o666, dir_fd=self._descriptor)

    def remove_file(self, name: str) -> None:
        """Remove a file, or a link itself."""
        os.unlink(name, dir_fd=self._descriptor)

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder."""
        os.rmdir(name, dir_fd=self._descriptor)

    def move_in(self, source: "FolderHandle", source_name: str, name: str) -> None:
        """Move a file of another folder here; what has the name is replaced."""
        ends = {"src_dir_fd": source._descriptor, "dst_dir_fd": self._descriptor}  # noqa: SLF001 - of this class
        os.replace(source_name, name, **ends)  # noqa: PTH105 - by descriptors

    def link_in(self, source: "FolderHandle", source_name: str, name: str) -> bool:
        """Give a file of another folder a name here that is free. False where hard links are not supported."""
        ends = {"src_dir_fd": source._descriptor, "dst_dir_fd": self._descriptor}  # noqa: SLF001 - of this class
        try:
            os.link(source_name, name, **ends, follow_symlinks=False)
        except FileExistsError:
            raise
        except OSError:
            return False
        return True


@contextmanager
def open_folder(root: Path, parts: Sequence[str], *, create: bool = False) -> Iterator[FolderHandle]:
    """Open a folder below the root, which the platform has chosen; its own path may have links.

    Raise FileNotFoundError if a part is missing, unless it is created, and NotADirectoryError if one is a file or a
    link.
    """
    if create:
        root.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts:
            inner = _open_part(descriptor, part, create=create)
            os.close(descriptor)
            descriptor = inner
        yield FolderHandle(descriptor)
    finally:
        os.close(descriptor)


def _open_part(descriptor: int, part: str, *, create: bool) -> int:
    if part in {"", ".", ".."} or "/" in part:
        raise NotADirectoryError(errno.ENOTDIR, "no name of a folder", part)
    try:
        return os.open(part, _FOLDER_FLAGS, dir_fd=descriptor)
    except FileNotFoundError:
        if not create:
            raise
    # If it exists now, another upload came first; or a link did, which is refused below.
    with suppress(FileExistsError):
        # Hidden folders are the platform's own.
        os.mkdir(part, 0o700 if part.startswith(".") else 0o777, dir_fd=descriptor)
    return os.open(part, _FOLDER_FLAGS, dir_fd=descriptor)


def refuse_links(root: Path, path: Path) -> None:
    """Raise OSError unless this is a file below the root whose path has no link: for those who open it by its path."""
    *parts, name = path.relative_to(root).parts
    with open_folder(root, parts) as folder:
        os.close(folder.open_file(name))
