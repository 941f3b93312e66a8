"""A writer that dies in the middle of a write, with half of its files written and none committed."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext

from lakehold.kit.settings import Settings
from lakehold.lake.iceberg_catalog import IcebergCatalog, TableIdentifier
from lakehold.lake.spark import spark_session
from lakehold.lake.spark.jvm import jvm_of
from lakehold.lake.spark.runtime import SparkOptions
from lakehold.lake.spark.table_writer import TableWriteOptions, WriteMode, write_rows
from lakehold.lake.spark.tables import Tables


def main(data: str, number: str) -> None:
    spark = spark_session.get_spark_session(SparkOptions("local[1]", {"spark.driver.memory": "512m"}))
    java = jvm_of(spark).java.lang.ProcessHandle.current().pid()

    def half(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        for batch in batches:
            yield batch
            if context is not None and context.partitionId() == 1:
                os.kill(java, signal.SIGKILL)

    rows = spark.range(0, 60_000, 1, 2).mapInArrow(half, "id long")
    tables = Tables(spark, IcebergCatalog(Settings(data=Path(data))))
    write_rows(tables, TableIdentifier(1, int(number)), rows, TableWriteOptions(WriteMode.APPEND, "killed"))


if __name__ == "__main__":
    main(*sys.argv[1:])
