"""Files on their way, and rows spooled in a fixed order.

Spark spools rows in parallel; they are read back a batch at a time, so that no number of rows is too many for the
delivering process, and in the same order when a step is repeated.
"""

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from lakehold.lake.spark.jvm import move_to_session

_DONE = "_SUCCESS"
_BATCH_SIZE = 2_000


def part_files(folder: Path) -> list[Path]:
    """Return the files that Spark has written into a folder, in the order of its partitions."""
    return sorted(folder.glob("part-*"))


def count_rows(files: Iterable[Path]) -> int:
    """Return the number of rows of Parquet files."""
    return sum(int(pq.read_metadata(file).num_rows) for file in files)


def remove_folder(folder: Path) -> None:
    """Delete a folder, if it exists."""
    if folder.exists():
        shutil.rmtree(folder)


def read_json(file: Path) -> dict[str, Any] | None:
    """Return the JSON stored in a file; None if there is none."""
    if not file.exists():
        return None
    found: dict[str, Any] = json.loads(file.read_bytes())
    return found


def write_json(file: Path, values: Mapping[str, object]) -> None:
    """Store JSON in a file atomically."""
    file.parent.mkdir(parents=True, exist_ok=True)
    rough = file.with_name(f"{file.name}.rough")
    rough.unlink(missing_ok=True)
    # Not through what may lie there under this name.
    with rough.open("x", encoding="utf-8") as opened:
        opened.write(json.dumps(values))
    rough.replace(file)


class RowSpool:
    """Rows spooled in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def is_complete(self) -> bool:
        """Whether all rows are in it."""
        return (self._folder / _DONE).exists()

    def fill(self, rows: DataFrame) -> None:
        """Spool the rows, unless they are there already."""
        if not self.is_complete:
            self.delete()
            write_parquet(rows, self._folder, compression="zstd")

    @property
    def count(self) -> int:
        """Number of rows."""
        return count_rows(part_files(self._folder))

    def batches(self, skip: int = 0) -> Iterator[pa.RecordBatch]:
        """Yield the rows in their order in batches, without the first ones."""
        for name in part_files(self._folder):
            with pq.ParquetFile(name) as file:
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
        remove_folder(self._folder)


def write_parquet(rows: DataFrame, folder: Path, *, compression: str) -> None:
    """Write the rows as Parquet with microsecond timestamps."""
    session = rows.sparkSession.newSession()
    session.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    move_to_session(session, rows).write.mode("overwrite").option("compression", compression).parquet(str(folder))
