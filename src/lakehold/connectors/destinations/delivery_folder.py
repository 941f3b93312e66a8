"""Folders of the platform for files on their way, and rows spooled in a fixed order.

Spark spools rows in parallel; they are read back a batch at a time, so that no number of rows is too many for the
delivering process, and in the same order when a step is repeated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs
from pyspark.sql import DataFrame

from lakehold.lake.spark.jvm import move_to_session

_BUFFER = 1 << 20


class DeliveryFolder:
    """A folder on disk or in an object store. It is created with its first file."""

    def __init__(self, where: str) -> None:
        self._system, self._path = fs.FileSystem.from_uri(where)
        self.address = where.rstrip("/")
        """The URI of the folder, as Spark takes it."""

    def subfolder(self, name: str) -> DeliveryFolder:
        """Return the subfolder of this name."""
        return DeliveryFolder(f"{self.address}/{name}")

    def file_address(self, name: str) -> str:
        """Return the address of the file of this name, for messages."""
        return f"{self.address}/{name}"

    def exists(self, name: str) -> bool:
        """Return whether a file or folder of this name exists."""
        return bool(self._info(name).type != fs.FileType.NotFound)

    def size(self, name: str) -> int:
        """Return the size of the file in bytes."""
        return int(self._info(name).size or 0)

    def part_files(self) -> list[str]:
        """Return the files that Spark has written, in the order of its partitions."""
        if self._system.get_file_info(self._path).type == fs.FileType.NotFound:
            return []
        found = self._system.get_file_info(fs.FileSelector(self._path))
        return sorted(each.base_name for each in found if each.is_file and each.base_name.startswith("part-"))

    @contextmanager
    def open_reader(self, name: str) -> Iterator[IO[bytes]]:
        """Open the file of this name as a stream."""
        with self._system.open_input_stream(self._at(name), buffer_size=_BUFFER) as opened:
            yield cast("IO[bytes]", opened)

    def open_random_access(self, name: str) -> Any:  # noqa: ANN401 - Arrow's files have no types
        """Open the file of this name for random access."""
        return self._system.open_input_file(self._at(name))

    @contextmanager
    def open_writer(self, name: str) -> Iterator[IO[bytes]]:
        """Create a file of this name."""
        self.create()
        with self._system.open_output_stream(self._at(name), buffer_size=_BUFFER) as opened:
            yield cast("IO[bytes]", opened)

    def read_json(self, name: str) -> dict[str, Any] | None:
        """Return the JSON stored under this name; None if there is none."""
        if not self.exists(name):
            return None
        with self.open_reader(name) as opened:
            return cast("dict[str, Any]", json.loads(opened.read()))

    def write_json(self, name: str, values: Mapping[str, object]) -> None:
        """Store JSON under this name atomically."""
        with self.open_writer(f"{name}.rough") as opened:
            opened.write(json.dumps(values).encode())
        self.move(f"{name}.rough", self, name)

    def move(self, name: str, to: DeliveryFolder, new: str) -> None:
        """Move a file or folder, within one disk atomically. An existing file is replaced."""
        to.create()
        self._system.move(self._at(name), to._at(new))

    def create(self) -> None:
        """Create the folder."""
        self._system.create_dir(self._path, recursive=True)

    def remove(self, name: str = "") -> None:
        """Delete the file or folder of this name, or the folder itself, if it exists."""
        found = self._info(name)
        if found.type == fs.FileType.Directory:
            self._system.delete_dir(found.path)
        elif found.type != fs.FileType.NotFound:
            self._system.delete_file(found.path)

    def _info(self, name: str) -> Any:  # noqa: ANN401 - as above
        return self._system.get_file_info(self._at(name))

    def _at(self, name: str) -> str:
        return f"{self._path}/{name}" if name else self._path


_DONE = "_SUCCESS"
_BATCH_SIZE = 2_000


class RowSpool:
    """Rows spooled in a folder of their own."""

    def __init__(self, folder: DeliveryFolder) -> None:
        self._folder = folder

    @property
    def is_complete(self) -> bool:
        """Whether all rows are in it."""
        return self._folder.exists(_DONE)

    def fill(self, rows: DataFrame) -> None:
        """Spool the rows, unless they are there already."""
        if not self.is_complete:
            self._folder.remove()
            write_parquet(rows, self._folder, compression="zstd")

    @property
    def count(self) -> int:
        """Number of rows."""
        return sum(self.count_in_file(name) for name in self._folder.part_files())

    def count_in_file(self, name: str) -> int:
        """Return the number of rows in one of its files."""
        with self._folder.open_random_access(name) as opened:
            return int(pq.read_metadata(opened).num_rows)

    def batches(self, skip: int = 0) -> Iterator[pa.RecordBatch]:
        """Yield the rows in their order in batches, without the first ones."""
        for name in self._folder.part_files():
            with self._folder.open_random_access(name) as opened, pq.ParquetFile(opened) as file:
                if skip >= file.metadata.num_rows:
                    skip -= file.metadata.num_rows
                    continue
                for batch in file.iter_batches(batch_size=_BATCH_SIZE):
                    left = batch.slice(min(skip, batch.num_rows))
                    skip -= batch.num_rows - left.num_rows
                    if left.num_rows:
                        yield left

    def delete(self) -> None:
        """Delete the spooled rows."""
        self._folder.remove()


def write_parquet(rows: DataFrame, folder: DeliveryFolder, *, compression: str) -> None:
    """Write the rows as Parquet with microsecond timestamps."""
    session = rows.sparkSession.newSession()
    session.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    move_to_session(session, rows).write.mode("overwrite").option("compression", compression).parquet(folder.address)
