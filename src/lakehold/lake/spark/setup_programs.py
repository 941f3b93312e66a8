"""Programs that prepare a machine for Spark: one fetches jars into a folder with Spark's own resolver, the other starts
Spark, runs some typical queries and writes the class data archive.

They run in processes of their own: `python -m lakehold.lake.spark.setup_programs jars FOLDER JAR…`, or `archive FILE`.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

from lakehold.kit.settings import Settings
from lakehold.lake.iceberg_catalog import IcebergCatalog, TableIdentifier
from lakehold.lake.spark import runtime, spark_session
from lakehold.lake.spark.runtime import SparkOptions
from lakehold.lake.spark.table_writer import TableWriteOptions, WriteMode, write_rows
from lakehold.lake.spark.tables import Tables

# Spark brings its own of these.
_EXCLUDED = "org.slf4j:slf4j-api,org.checkerframework:checker-qual"
_ROWS = "SELECT id, concat('name ', id % 7) AS name, DATE '2026-01-01' AS day, 1.5 * id AS amount FROM range(1000)"
_QUERIES = (
    "SELECT name, count(*), sum(amount) FROM {table} GROUP BY name ORDER BY 2 DESC",
    "SELECT a.name, row_number() OVER (PARTITION BY a.name ORDER BY b.id) FROM {table} a JOIN {table} b USING (id)",
)


def fetch_jars(folder: str, *coordinates: str) -> None:
    """Start the JVM of Spark, which resolves the jars, and let it end."""
    conf = {
        "spark.jars.ivy": folder,
        "spark.jars.packages": ",".join(coordinates),
        "spark.jars.excludes": _EXCLUDED,
    }
    java = runtime.launch_bare(SparkOptions("local[1]", conf, scratch_parent=Path(folder) / "scratch"))
    # It ends as soon as nothing more comes in; the jars are there by then.
    java.process.communicate()


def write_archive(file: str) -> None:
    """Write the archive; it exists when the JVM has exited."""
    options = f"{runtime.ALLOW_SECURITY_MANAGER} -XX:ArchiveClassesAtExit={file} {runtime.QUIET}"
    spark_options = SparkOptions("local[1]", {runtime.JAVA_OPTIONS: options})
    java = runtime.launch(spark_options)
    spark = spark_session.get_spark_session(spark_options, java)
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
    if sys.argv[1] == "jars":
        fetch_jars(*sys.argv[2:])
    else:
        write_archive(sys.argv[2])
