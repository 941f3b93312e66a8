"""Fetches jars into a folder with Spark's own resolver: `python -m lakehold.lake.spark.jar_resolver FOLDER JAR…`."""

from __future__ import annotations

import os
import sys

from pyspark.sql import SparkSession

# Spark brings its own of these.
_EXCLUDED = "org.slf4j:slf4j-api,org.checkerframework:checker-qual"


def main(folder: str, *coordinates: str) -> None:
    """Start Spark, which resolves the jars, and stop it."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.jars.ivy", folder)
        .config("spark.jars.packages", ",".join(coordinates))
        .config("spark.jars.excludes", _EXCLUDED)
    )
    builder.getOrCreate().stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
