"""What Spark is told of files."""

from __future__ import annotations

import re
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from lakehold.kit.errors import InvalidInputError

_SIGNS = re.compile(r"([\\*?\[\]{}^])")


def addresses(files: list[str]) -> list[str]:
    """The files as Spark reads them: each of them, and nothing else by a sign in its name."""
    for file in files:
        name = Path(file).name
        if name.startswith(("_", ".")):
            # Spark would pass over it without a word.
            raise InvalidInputError(f"{name} is a hidden file.", "Give it a name that does not begin with _ or a dot.")
    return ["file:" + _SIGNS.sub(r"\\\1", file) for file in files]


def name() -> Column:
    """The name of the file that a row comes from, as people write it."""
    # Spark tells it as part of an address, in which a plus is one.
    return f.url_decode(f.replace(f.col("_metadata.file_name"), f.lit("+"), f.lit("%2B")))


def spread(spark: SparkSession, files: list[str]) -> DataFrame:
    """The files' paths, each in a part of its own."""
    made = spark.createDataFrame([(file,) for file in files], "path string")
    return made.repartition(max(1, len(files)))
