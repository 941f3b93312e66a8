"""A folder that the platform gave: on a disk, or wherever its address leads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, cast

from pyarrow import fs

_BUFFER = 1 << 20


class Folder:
    """Files by name. It is made when the first of them is."""

    def __init__(self, where: str) -> None:
        self._system, self._path = fs.FileSystem.from_uri(where)
        self.address = where.rstrip("/")
        """As Spark is told of it."""

    def sub(self, name: str) -> Folder:
        """The folder of this name in it."""
        return Folder(f"{self.address}/{name}")

    def place(self, name: str) -> str:
        """Where the file of this name is, as people are told."""
        return f"{self.address}/{name}"

    def has(self, name: str) -> bool:
        """Whether there is something of this name."""
        return bool(self._info(name).type != fs.FileType.NotFound)

    def size(self, name: str) -> int:
        """How many bytes the file has."""
        return int(self._info(name).size or 0)

    def parts(self) -> list[str]:
        """The files that Spark has written, in the order of its partitions."""
        if self._system.get_file_info(self._path).type == fs.FileType.NotFound:
            return []
        found = self._system.get_file_info(fs.FileSelector(self._path))
        return sorted(each.base_name for each in found if each.is_file and each.base_name.startswith("part-"))

    @contextmanager
    def reading(self, name: str) -> Iterator[IO[bytes]]:
        """The file of this name, from its beginning."""
        with self._system.open_input_stream(self._at(name), buffer_size=_BUFFER) as opened:
            yield cast("IO[bytes]", opened)

    def table(self, name: str) -> Any:  # noqa: ANN401 - Arrow's files have no types
        """The file of this name, to be read here and there."""
        return self._system.open_input_file(self._at(name))

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """A new file of this name."""
        self.make()
        with self._system.open_output_stream(self._at(name), buffer_size=_BUFFER) as opened:
            yield cast("IO[bytes]", opened)

    def note(self, name: str) -> dict[str, Any] | None:
        """What was noted under this name."""
        if not self.has(name):
            return None
        with self.reading(name) as opened:
            return cast("dict[str, Any]", json.loads(opened.read()))

    def keep(self, name: str, told: Mapping[str, object]) -> None:
        """Note it. Whoever reads sees all of it or nothing."""
        with self.writing(f"{name}.rough") as opened:
            opened.write(json.dumps(told).encode())
        self.move(f"{name}.rough", self, name)

    def move(self, name: str, to: Folder, new: str) -> None:
        """Move the file or folder, within one disk in one step. A file takes the place of one that is there."""
        to.make()
        self._system.move(self._at(name), to._at(new))

    def make(self) -> None:
        """Let it be there."""
        self._system.create_dir(self._path, recursive=True)

    def remove(self, name: str = "") -> None:
        """End what has this name, or the folder itself, if it is there."""
        found = self._info(name)
        if found.type == fs.FileType.Directory:
            self._system.delete_dir(found.path)
        elif found.type != fs.FileType.NotFound:
            self._system.delete_file(found.path)

    def _info(self, name: str) -> Any:  # noqa: ANN401 - as above
        return self._system.get_file_info(self._at(name))

    def _at(self, name: str) -> str:
        return f"{self._path}/{name}" if name else self._path
