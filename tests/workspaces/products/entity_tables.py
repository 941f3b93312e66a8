"""Small tables of records, pairs and members for tests with Spark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

TYPES = {"probability": "double", "weight": "double", "successors": "array<string>"}
RECORDS = ("record", "source", "recency")
PAIRS = ("record_a", "record_b", "probability", "weight")
MEMBERS = ("record", "entity", "component", "flag")
OVERRIDES = ("entity", "attribute", "value")
CHANGES = ("entity", "change", "attributes", "successors")


def table(spark: SparkSession, names: Sequence[str], rows: Iterable[Sequence[Any]] = ()) -> DataFrame:
    """Return a table of these rows."""
    schema = ", ".join(f"`{name}` {TYPES.get(name, 'string')}" for name in names)
    return spark.createDataFrame([tuple(row) for row in rows], schema)


def by(rows: DataFrame, key: str, value: str) -> Mapping[str, Any]:
    """Return a column by another one, whose values are unique."""
    found = rows.select(key, value).toArrow()
    keys = found[key].to_pylist()
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, found[value].to_pylist(), strict=True))
