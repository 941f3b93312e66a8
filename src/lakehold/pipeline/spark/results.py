"""The rows of a query as Arrow, no more of them and no larger than allowed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.errors import PySparkTypeError
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import CalendarIntervalType, DataType, VariantType, YearMonthIntervalType

from lakehold.pipeline.errors import QueryError, TooMuchError
from lakehold.pipeline.spark.jvm import active

_TEXTS = (CalendarIntervalType, VariantType, YearMonthIntervalType)


@dataclass(frozen=True, slots=True)
class Result:
    """Some rows."""

    schema: pa.Schema
    batches: list[pa.RecordBatch]
    complete: bool
    """Whether there were no more."""

    @property
    def rows(self) -> int:
        """How many."""
        return sum(batch.num_rows for batch in self.batches)


def collected(rows: DataFrame, *, most_rows: int, most_bytes: int) -> Result:
    """Run it, and take the rows as they come. One more than allowed is asked for, to know whether there are more."""
    rows = _shown(rows)
    try:
        schema = to_arrow_schema(rows.schema)
    except PySparkTypeError as error:
        raise QueryError("A column has a type that cannot be sent.", "Make it a text: CAST(… AS STRING).") from error
    with active(rows.sparkSession):
        found = list(_batches(rows.limit(most_rows + 1), schema, most_bytes))
    total = sum(batch.num_rows for batch in found)
    if total <= most_rows:
        return Result(schema, found, complete=True)
    return Result(schema, list(_first(found, most_rows)), complete=False)


def _shown(rows: DataFrame) -> DataFrame:
    """The same, with text in place of what Arrow has no type for: variants as JSON, months and mixed intervals."""
    kinds = [field.dataType for field in rows.schema]
    if not any(isinstance(kind, _TEXTS) for kind in kinds):
        return rows
    numbered = rows.toDF(*(str(number) for number in range(len(kinds))))
    return numbered.select(
        [
            _text(f.col(f"`{number}`"), kind).alias(name)
            for number, (name, kind) in enumerate(zip(rows.columns, kinds, strict=True))
        ]
    )


def _text(column: Column, kind: DataType) -> Column:
    if isinstance(kind, VariantType):
        return f.to_json(column)
    return column.cast("string") if isinstance(kind, _TEXTS) else column


def _batches(rows: DataFrame, schema: pa.Schema, most_bytes: int) -> Iterator[pa.RecordBatch]:
    """Run it in this very thread, and take the batches one by one.

    Spark's own `toArrow` runs it in another one, which nobody hears of any more if memory ends there, and writes the
    rows from the thread that every query waits for.
    """
    found = rows._jdf.toArrowBatchRdd().collect()  # noqa: SLF001 - only the JVM has them
    size = 0
    for number in range(len(found)):
        part = found[number]
        size += len(part)
        if size > most_bytes:
            raise TooMuchError(
                f"The result is larger than {most_bytes // 1_000_000:,} MB.",
                "Ask for fewer columns or rows, or save the query as a table.",
            )
        yield pa.ipc.read_record_batch(pa.py_buffer(part), schema)


def _first(batches: list[pa.RecordBatch], most: int) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if most <= 0:
            return
        yield batch.slice(0, most)
        most -= batch.num_rows
