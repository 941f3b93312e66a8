"""Starts Spark, runs some typical queries and writes the class data archive: `python -m
lakehold.lake.spark.archive_builder FILE`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

from lakehold.kit.settings import Settings
from lakehold.lake.iceberg_catalog import IcebergCatalog, TableIdentifier
from lakehold.lake.spark import jvm_launcher, runtime, spark_session
from lakehold.lake.spark.jvm_launcher import ALLOW_SECURITY_MANAGER, JAVA_OPTIONS
from lakehold.lake.spark.table_writer import TableWriteOptions, WriteMode, write_rows
from lakehold.lake.spark.tables import Tables

_ROWS = "SELECT id, concat('name ', id % 7) AS name, DATE '2026-01-01' AS day, 1.5 * id AS amount FROM range(1000)"
_QUERIES = (
    "SELECT name, count(*), sum(amount) FROM {table} GROUP BY name ORDER BY 2 DESC",
    "SELECT a.name, row_number() OVER (PARTITION BY a.name ORDER BY b.id) FROM {table} a JOIN {table} b USING (id)",
)


def main(file: str) -> None:
    """Write the archive; it exists when the JVM has exited."""
    java = jvm_launcher.launch(
        "local[1]", {JAVA_OPTIONS: f"{ALLOW_SECURITY_MANAGER} {runtime.archive_dump_options(Path(file))}"}
    )
    spark = spark_session.get_spark_session("local[1]", launched=java)
    with TemporaryDirectory() as folder:
        _run_queries(spark, Path(folder))
    gateway = spark.sparkContext._gateway  # noqa: SLF001 - nothing else ends the JVM in peace
    spark_session.stop()
    assert gateway is not None  # noqa: S101 - it was used above
    gateway.shutdown()
    java.process.communicate()


def _run_queries(spark: SparkSession, folder: Path) -> None:
    lake = IcebergCatalog(Settings(data=folder))
    tables, place = Tables(spark, lake), TableIdentifier(1, 1)
    write_rows(tables, place, spark.sql(_ROWS), TableWriteOptions(WriteMode.OVERWRITE, "first"))
    write_rows(tables, place, spark.sql(_ROWS), TableWriteOptions(WriteMode.MERGE, "second", keys=("id",)))
    for text in _QUERIES:
        tables.session.sql(text.format(table=place.sql)).toArrow()
    lake.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
