"""Starts Spark, does a little of everything, and leaves its classes behind:
`python -m lakehold.pipeline.spark.archiving FILE`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

from lakehold.kit.settings import Settings
from lakehold.pipeline.lake import Lake, Place
from lakehold.pipeline.spark import archive, launching, session
from lakehold.pipeline.spark.launching import ALLOW, JAVA
from lakehold.pipeline.spark.tables import Tables
from lakehold.pipeline.spark.writing import Mode, Write, write

_ROWS = "SELECT id, concat('name ', id % 7) AS name, DATE '2026-01-01' AS day, 1.5 * id AS amount FROM range(1000)"
_ASKED = (
    "SELECT name, count(*), sum(amount) FROM {table} GROUP BY name ORDER BY 2 DESC",
    "SELECT a.name, row_number() OVER (PARTITION BY a.name ORDER BY b.id) FROM {table} a JOIN {table} b USING (id)",
)


def main(file: str) -> None:
    """Write the archive; it is there when the JVM has ended."""
    java = launching.launch("local[1]", {JAVA: f"{ALLOW} {archive.options_to_make(Path(file))}"})
    spark = session.session("local[1]", launched=java)
    with TemporaryDirectory() as folder:
        _use(spark, Path(folder))
    gateway = spark.sparkContext._gateway  # noqa: SLF001 - nothing else ends the JVM in peace
    session.stop()
    assert gateway is not None  # noqa: S101 - it was used above
    gateway.shutdown()
    java.process.communicate()


def _use(spark: SparkSession, folder: Path) -> None:
    lake = Lake(Settings(data=folder))
    tables, place = Tables(spark, lake), Place(1, 1)
    write(tables, place, spark.sql(_ROWS), Write(Mode.OVERWRITE, "first"))
    write(tables, place, spark.sql(_ROWS), Write(Mode.MERGE, "second", keys=("id",)))
    for text in _ASKED:
        tables.session.sql(text.format(table=place.sql)).toArrow()
    lake.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
