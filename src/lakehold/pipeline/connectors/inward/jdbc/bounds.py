"""How a table is read in parts: by a column whose lowest and highest values the database tells."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from itertools import pairwise

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import TimestampNTZType

from lakehold.kit.errors import InvalidInputError
from lakehold.pipeline.connectors.inward.connector import Since
from lakehold.pipeline.errors import DataError

MOST_PARTS = 256


@dataclass(frozen=True, slots=True)
class Parts:
    """Into how many parts a table is cut, and by which column: a number, a date or a timestamp."""

    column: str
    count: int

    def checked(self, columns: list[str]) -> Parts:
        """Itself, if a table with these columns can be cut like this."""
        if self.column not in columns:
            raise DataError(f"The table has no column {self.column!r}.", f"It has: {', '.join(columns)}.")
        if not 1 <= self.count <= MOST_PARTS:
            raise InvalidInputError(f"A table is read in 1 to {MOST_PARTS} parts, not {self.count}.")
        return self


def in_parts(spark: SparkSession, told: Mapping[str, str], parts: Parts, quoted: str, since: Since | None) -> DataFrame:
    """The rows, read in parts; in one, if the column has no values."""
    asked = f"(SELECT MIN({quoted}) AS low, MAX({quoted}) AS high FROM {told['dbtable']}) bounds"  # noqa: S608 - quoted
    bounds = spark.read.format("jdbc").options(**{**told, "dbtable": asked}).load()
    row = bounds.first()
    reader = spark.read.format("jdbc").options(**told)
    if row is None or row[0] is None or row[1] is None:
        return reader.load()
    if isinstance(bounds.schema["low"].dataType, TimestampNTZType):
        return reader.jdbc(told["url"], told["dbtable"], predicates=_cuts(quoted, row[0], row[1], parts.count))
    low, high = _bound(row[0], parts.column, math.floor), _bound(row[1], parts.column, math.ceil)
    if since is not None and not since.again and since.field.lower() == parts.column.lower():
        # Only what is new is read, so only that is cut into parts.
        low = since.value
    cut = {"partitionColumn": parts.column, "lowerBound": low, "upperBound": high, "numPartitions": str(parts.count)}
    return reader.options(**cut).load()


def _cuts(quoted: str, low: datetime, high: datetime, count: int) -> list[str]:
    """Conditions for the parts: Spark itself does not cut by a time without a zone."""
    times = [low + (high - low) * number / count for number in range(1, count)]
    words = [f"TIMESTAMP '{each:%Y-%m-%d %H:%M:%S.%f}'" for each in times]
    if not words:
        return ["1 = 1"]
    between = [f"{quoted} >= {one} AND {quoted} < {other}" for one, other in pairwise(words)]
    return [f"({quoted} < {words[0]} OR {quoted} IS NULL)", *between, f"{quoted} >= {words[-1]}"]


def _bound(value: object, column: str, rounded: Callable[[float | Decimal], int]) -> str:
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return str(rounded(value))
    if isinstance(value, datetime | date):
        return value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()
    raise DataError(
        f"{column} is no number, date or timestamp, so the table cannot be cut into parts by it.",
        "Choose another column, or read it in one part.",
    )
