"""A worker that dies in the middle of a write: half of its files are there, and nobody has been told of them."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext

from lakehold.kit.settings import Settings
from lakehold.pipeline.lake import Lake, Place
from lakehold.pipeline.spark import session
from lakehold.pipeline.spark.jvm import jvm_of
from lakehold.pipeline.spark.tables import Tables
from lakehold.pipeline.spark.writing import Mode, Write, write


def main(data: str, number: str) -> None:
    spark = session.session("local[1]", {"spark.driver.memory": "512m"})
    java = jvm_of(spark).java.lang.ProcessHandle.current().pid()

    def half(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        for batch in batches:
            yield batch
            if context is not None and context.partitionId() == 1:
                os.kill(java, signal.SIGKILL)

    rows = spark.range(0, 60_000, 1, 2).mapInArrow(half, "id long")
    tables = Tables(spark, Lake(Settings(data=Path(data))))
    write(tables, Place(1, int(number)), rows, Write(Mode.APPEND, "killed"))


if __name__ == "__main__":
    main(*sys.argv[1:])
