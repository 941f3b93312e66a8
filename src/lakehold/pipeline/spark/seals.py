"""Whether rows are there at all, and whether they are the same as others were."""

from __future__ import annotations

import hashlib

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from lakehold.pipeline.quoting import quoted


def seal(rows: DataFrame) -> str:
    """The same for the same rows, in whatever order they come."""
    each = f.xxhash64(*(f.col(quoted(name)) for name in rows.columns)).cast("decimal(38,0)")
    found = rows.agg(f.count("*").alias("count"), f.sum(each).alias("sum")).first()
    assert found is not None  # noqa: S101 - an aggregate has a row
    names = hashlib.sha256("\n".join(rows.columns).encode()).hexdigest()[:16]
    return f"{names} {found['count']} {found['sum'] or 0}"


def is_empty(rows: DataFrame) -> bool:
    """Whether there are none."""
    return not rows.limit(1).count()
