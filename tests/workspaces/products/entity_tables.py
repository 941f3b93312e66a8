"""Small tables of records, pairs and members for tests with Spark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

TYPES = {
    "probability": pa.float64(),
    "weight": pa.float64(),
    "successors": pa.list_(pa.string()),
    "records": pa.int32(),
}
RECORDS = ("record", "source", "recency")
PAIRS = ("record_a", "record_b", "probability", "weight")
MEMBERS = ("record", "entity", "component", "flag")
OVERRIDES = ("entity", "attribute", "value")
CHANGES = ("entity", "change", "attributes", "successors")


def table(spark: SparkSession, names: Sequence[str], rows: Iterable[Sequence[Any]] = ()) -> DataFrame:
    """Return a table of these rows."""
    found = list(rows)
    columns = {name: pa.array([row[n] for row in found], TYPES.get(name, pa.string())) for n, name in enumerate(names)}
    return spark.createDataFrame(pa.table(columns))


def by(rows: DataFrame, key: str, value: str) -> Mapping[str, Any]:
    """Return a column by another one, whose values are unique."""
    found = rows.select(key, value).toArrow()
    keys = found[key].to_pylist()
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, found[value].to_pylist(), strict=True))
