"""Rows laid aside for what has to go over them one by one: in a fixed order, and the same when a step is run again.

Spark writes them in parallel; they are read back a little at a time, so that no number of rows is too many for the
process that delivers them.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from lakehold.pipeline.connectors.outward.folder import Folder
from lakehold.pipeline.spark.jvm import within

_DONE = "_SUCCESS"
_AT_ONCE = 2_000


class Spool:
    """Rows in a folder of their own."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    @property
    def complete(self) -> bool:
        """Whether all rows are in it."""
        return self._folder.has(_DONE)

    def fill(self, rows: DataFrame) -> None:
        """Lay the rows aside, unless they are there."""
        if not self.complete:
            self._folder.remove()
            parquet(rows, self._folder, compression="zstd")

    @property
    def count(self) -> int:
        """How many rows there are."""
        return sum(self.count_in(name) for name in self._folder.parts())

    def count_in(self, name: str) -> int:
        """How many rows are in one of its files."""
        with self._folder.table(name) as opened:
            return int(pq.read_metadata(opened).num_rows)

    def batches(self, skip: int = 0) -> Iterator[pa.RecordBatch]:
        """The rows in their order, some at a time, without the first ones."""
        for name in self._folder.parts():
            with self._folder.table(name) as opened, pq.ParquetFile(opened) as file:
                if skip >= file.metadata.num_rows:
                    skip -= file.metadata.num_rows
                    continue
                for batch in file.iter_batches(batch_size=_AT_ONCE):
                    left = batch.slice(min(skip, batch.num_rows))
                    skip -= batch.num_rows - left.num_rows
                    if left.num_rows:
                        yield left

    def end(self) -> None:
        """The rows are no longer needed."""
        self._folder.remove()


def parquet(rows: DataFrame, folder: Folder, *, compression: str) -> None:
    """Write the rows as Parquet, with times as everybody reads them today."""
    session = rows.sparkSession.newSession()
    session.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    within(session, rows).write.mode("overwrite").option("compression", compression).parquet(folder.address)
