"""Results of queries: their rows as Arrow batches in memory, or in a file."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.errors import PySparkTypeError
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import CalendarIntervalType, DataType, VariantType, YearMonthIntervalType

from lakehold.kit.errors import LimitExceededError
from lakehold.lake.errors import QueryError
from lakehold.lake.spark.jvm import active_session

_TEXTS = (CalendarIntervalType, VariantType, YearMonthIntervalType)


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Rows of a query as Arrow batches."""

    schema: pa.Schema
    batches: list[pa.RecordBatch]
    complete: bool
    """Whether there were no more."""


def collect_result(rows: DataFrame, *, most_rows: int, most_bytes: int) -> QueryResult:
    """Run the query and collect its rows. One row more than allowed is requested, to know whether there are more."""
    rows = _with_text_columns(rows)
    schema = _arrow_schema(rows)
    with active_session(rows.sparkSession):
        found = list(_collect_batches(rows.limit(most_rows + 1), schema, most_bytes))
    whole = pa.Table.from_batches(found, schema)
    return QueryResult(schema, whole.slice(0, most_rows).to_batches(), complete=len(whole) <= most_rows)


def write_result(rows: DataFrame, file: Path, *, most_bytes: int) -> int:
    """Run the query, write its rows into an Arrow file as they arrive, and return how many there are."""
    rows = _with_text_columns(rows)
    schema, count = _arrow_schema(rows), 0
    partial_file = file.with_suffix(".arrow.part")
    try:
        with (
            active_session(rows.sparkSession),
            pa.OSFile(str(partial_file), "wb") as sink,
            pa.ipc.new_file(sink, schema) as writer,
        ):
            # Partition by partition: the result is never in memory as a whole.
            parts = rows._jdf.toArrowBatchRdd().toLocalIterator()  # noqa: SLF001 - only the JVM has them
            while parts.hasNext():
                batch = pa.ipc.read_record_batch(pa.py_buffer(parts.next()), schema)
                writer.write_batch(batch)
                count += batch.num_rows
                _refuse_large_result(sink.tell(), most_bytes)
        partial_file.replace(file)
        return count
    finally:
        partial_file.unlink(missing_ok=True)


def _arrow_schema(rows: DataFrame) -> pa.Schema:
    try:
        return to_arrow_schema(rows.schema)
    except PySparkTypeError as error:
        raise QueryError("A column has a type that cannot be sent.", "Make it a text: CAST(… AS STRING).") from error


def _refuse_large_result(size: int, most_bytes: int) -> None:
    if size > most_bytes:
        message = f"The result is larger than {most_bytes // 1_000_000:,} MB."
        raise LimitExceededError(message, "Select fewer columns or rows, or save the query as a table.")


def _with_text_columns(rows: DataFrame) -> DataFrame:
    """Replace columns that Arrow has no type for by text: variants as JSON, month and mixed intervals."""
    kinds = [field.dataType for field in rows.schema]
    if not any(isinstance(kind, _TEXTS) for kind in kinds):
        return rows
    numbered = rows.toDF(*(str(number) for number in range(len(kinds))))
    return numbered.select(
        [
            _as_text(f.col(f"`{number}`"), kind).alias(name)
            for number, (name, kind) in enumerate(zip(rows.columns, kinds, strict=True))
        ]
    )


def _as_text(column: Column, kind: DataType) -> Column:
    if isinstance(kind, VariantType):
        return f.to_json(column)
    return column.cast("string") if isinstance(kind, _TEXTS) else column


def _collect_batches(rows: DataFrame, schema: pa.Schema, most_bytes: int) -> Iterator[pa.RecordBatch]:
    """Run the query in this thread and yield its batches.

    Spark's own `toArrow` runs it in another thread, which reports nothing if memory ends there, and writes the rows
    from the thread that every query waits for.
    """
    found = rows._jdf.toArrowBatchRdd().collect()  # noqa: SLF001 - only the JVM has them
    size = 0
    for number in range(len(found)):
        part = found[number]
        size += len(part)
        _refuse_large_result(size, most_bytes)
        yield pa.ipc.read_record_batch(pa.py_buffer(part), schema)
