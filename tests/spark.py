"""The Spark session of the whole test run, started as a worker starts it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from lakehold.lake.spark import spark_session
from lakehold.lake.spark.local_rows import local_rows
from lakehold.lake.spark.runtime import SparkOptions


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A small session with two threads and one GiB."""
    conf = {"spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "2"}
    yield spark_session.get_spark_session(SparkOptions("local[2]", conf))
    spark_session.stop()


def make_rows(spark: SparkSession, rows: Iterable[Sequence[object]], fields: str) -> DataFrame:
    """Return a few rows with the fields of a DDL text."""
    schema = StructType.fromDDL(fields)
    assert isinstance(schema, StructType)
    return local_rows(spark, rows, schema)
