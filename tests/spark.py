"""The Spark session of the whole test run, started as a worker starts it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from lakehold.lake.spark import spark_session
from lakehold.lake.spark.runtime import SparkOptions


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A small session with two threads and one GiB."""
    conf = {"spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "2"}
    yield spark_session.get_spark_session(SparkOptions("local[2]", conf))
    spark_session.stop()
