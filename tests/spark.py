"""The Spark session of the whole test run, started as a worker starts it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from lakehold.lake.spark import spark_session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A small session with two threads and one GiB."""
    yield spark_session.get_spark_session(
        "local[2]", {"spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "2"}
    )
    spark_session.stop()
