"""Applies the changes of a file to an Iceberg table: the last change of each row counts, in one snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as t

from lakehold.connectors.database.change_capture.change_files import KEPT, LIFE, PLACE, THERE, ChangeFile
from lakehold.kit.ids import fold_name
from lakehold.lake.errors import DataError
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.row_formats import quote_identifier
from lakehold.lake.spark.guard import query_errors
from lakehold.lake.spark.jvm import move_to_session
from lakehold.lake.spark.local_rows import empty_rows
from lakehold.lake.spark.table_writer import TableWriteResult, write_once
from lakehold.lake.spark.tables import Tables
from lakehold.lake.table_metadata import IcebergMetadata

POSITION = "lakehold.changes"
"""The property of a snapshot that says up to where the table has the changes of which slot: `slot:lsn`."""
_POSITION_PROPERTY = f"spark.sql.iceberg.snapshot-property.{POSITION}"
_GONE = "lakehold_gone"
_INFINITE = {"infinity": "9999-12-31 23:59:59.999999", "-infinity": "0001-01-01 00:00:00"}


@contextmanager
def record_position(session: SparkSession, position: str) -> Iterator[None]:
    """Record a position in the snapshots that the session makes inside."""
    session.conf.set(_POSITION_PROPERTY, position)
    try:
        yield
    finally:
        session.conf.unset(_POSITION_PROPERTY)


def recorded_position(table: IcebergMetadata, slot: str) -> int | None:
    """Return up to where a table has the changes of a slot, as its snapshots say; None if they do not say it."""
    by_id = {each.id: each for each in table.snapshots}
    here = table.current
    while here is not None:
        name, _, lsn = here.summary.get(POSITION, "").rpartition(":")
        if name == slot:
            return int(lsn)
        here = by_id.get(here.parent) if here.parent is not None else None
    return None


def replace_rows(tables: Tables, place: TableIdentifier, rows: DataFrame, mark: str, position: str) -> TableWriteResult:
    """Replace all rows of a table in one snapshot."""

    def write(session: SparkSession) -> None:
        with record_position(session, position):
            move_to_session(session, rows).writeTo(place.sql).overwrite(f.lit(True))

    return write_once(tables, place, mark, write)


def apply_changes(
    tables: Tables, place: TableIdentifier, file: ChangeFile, mark: str, position: str
) -> TableWriteResult:
    """Apply the changes of a file to a table in one snapshot."""
    fields = {fold_name(each.name): each for each in tables.schema(place).fields}

    def write(session: SparkSession) -> None:
        with record_position(session, position):
            _write_changes(session, place, file, [fields[fold_name(name)] for name in file.columns])

    with _translate_value_errors(file.stream):
        return write_once(tables, place, mark, write)


@contextmanager
def _translate_value_errors(stream: str) -> Iterator[None]:
    """Say of a value that does not fit its column where it comes from."""
    try:
        yield
    except PySparkException as error:
        said = query_errors.error_message(error, values=True)
        message = f"A changed value of {stream} does not fit the dataset: {said}"
        raise DataError(message, "Reload the dataset, or change its columns.", foreign=said) from error


def _write_changes(
    session: SparkSession, place: TableIdentifier, file: ChangeFile, fields: Sequence[t.StructField]
) -> None:
    if not file.has_file():
        empty_rows(session, t.StructType(list(fields))).writeTo(place.sql).overwrite(f.lit(True))
        return
    lines = session.read.parquet(file.path.resolve().as_uri())
    changes = _ChangedRows(lines, file, fields)
    if file.truncated:
        changes.present().writeTo(place.sql).overwrite(f.lit(True))
        return
    table = session.table(place.sql) if file.incomplete else None
    arriving = changes.moved(table) if file.moves else changes.by_key(table)
    arriving.createOrReplaceTempView("arriving")
    session.sql(_merge_statement(place, file, fields))


def _merge_statement(place: TableIdentifier, file: ChangeFile, fields: Sequence[t.StructField]) -> str:
    names = [quote_identifier(each.name) for each in fields]
    by_key = {fold_name(each.name): quote_identifier(each.name) for each in fields}
    same = " AND ".join(f"t.{by_key[fold_name(key)]} = s.{by_key[fold_name(key)]}" for key in file.keys)
    pairs = ", ".join(f"t.{name} = s.{name}" for name in names)
    columns, values = ", ".join(names), ", ".join(f"s.{name}" for name in names)
    return (
        f"MERGE INTO {place.sql} t USING arriving s ON {same}"  # noqa: S608 - quoted
        f" WHEN MATCHED AND s.{_GONE} THEN DELETE WHEN MATCHED THEN UPDATE SET {pairs}"
        f" WHEN NOT MATCHED AND NOT s.{_GONE} THEN INSERT ({columns}) VALUES ({values})"
    )


class _ChangedRows:
    """The rows that a file changes, as they are after its last change."""

    def __init__(self, lines: DataFrame, file: ChangeFile, fields: Sequence[t.StructField]) -> None:
        self._file, self._fields = file, fields
        by_name = {fold_name(each.name): n for n, each in enumerate(fields)}
        self._key_places = [by_name[fold_name(key)] for key in file.keys]
        self._origin = [f"k{n}" for n in range(len(file.keys))]
        typed = [
            *(typed_value(f.col(f"k{n}"), fields[at].dataType).alias(f"k{n}") for n, at in enumerate(self._key_places)),
            *(typed_value(f.col(f"c{n}"), each.dataType).alias(f"c{n}") for n, each in enumerate(fields)),
        ]
        self._last = self._last_changes(lines.select(PLACE, THERE, LIFE, KEPT, *typed))

    def _last_changes(self, lines: DataFrame) -> DataFrame:
        """Return the last values of each row, and which of them are not in the file."""
        whole = [n for n in range(len(self._fields)) if n not in self._file.incomplete]
        last = f.max_by(f.struct(THERE, *(f"c{n}" for n in whole)), PLACE).alias("last")
        parts = [self._last_part(n) for n in sorted(self._file.incomplete)]
        found = lines.groupBy(LIFE, *self._origin).agg(last, *parts)
        return found.select(LIFE, *self._origin, "last.*", *(f"p{n}" for n in sorted(self._file.incomplete)))

    @staticmethod
    def _last_part(n: int) -> Column:
        """Return the last value of a column of which some are left out, in a struct; NULL if it is never there."""
        left_out = f.coalesce(f.contains(f.col(KEPT), f.lit(f",{n},")), f.lit(False))
        there = f.when(~left_out & f.col(THERE), f.col(PLACE))
        return f.max_by(f.struct(f.col(f"c{n}").alias("value")), there).alias(f"p{n}")

    def present(self) -> DataFrame:
        """Return the rows that are there, with all values that the file has."""
        return self._last.filter(THERE).select(*self._values(None))

    def by_key(self, table: DataFrame | None) -> DataFrame:
        """Return the last change of each key, and whether its row is gone."""
        rows = self._last if table is None else self._with_stored(self._last, table)
        values = self._values(table)
        for n, at in enumerate(self._key_places):
            # A row that is gone has nothing else.
            values[at] = f.col(f"k{n}").alias(self._fields[at].name)
        return rows.select(*values, (~f.col(THERE)).alias(_GONE))

    def moved(self, table: DataFrame | None) -> DataFrame:
        """Return the same if rows have moved to other keys: those that are there, and the keys that no row has now."""
        there = self._last.filter(THERE)
        rows = (there if table is None else self._with_stored(there, table)).select(*self._values(table))
        keys = [self._fields[at].name for at in self._key_places]
        named = (f.col(name).alias(key) for name, key in zip(self._origin, keys, strict=True))
        before = self._last.filter(f.col(LIFE) == 0).select(*named)
        gone = before.join(rows.select(*map(quote_identifier, keys)), keys, "left_anti")
        arriving = rows.withColumn(_GONE, f.lit(False))
        return arriving.unionByName(gone.withColumn(_GONE, f.lit(True)), allowMissingColumns=True)

    def _with_stored(self, rows: DataFrame, table: DataFrame) -> DataFrame:
        """Add the values that are not in the file from the table as it is."""
        before = [quote_identifier(self._fields[n].name) for n in (*self._key_places, *sorted(self._file.incomplete))]
        names = [*(f"b{n}" for n in range(len(self._key_places))), *(f"t{n}" for n in sorted(self._file.incomplete))]
        stored = table.select(*(f.col(name).alias(alias) for name, alias in zip(before, names, strict=True)))
        same = [f.col(f"k{n}") == f.col(f"b{n}") for n in range(len(self._key_places))]
        return rows.join(stored, [*same, f.col(LIFE) == 0], "left")

    def _values(self, table: DataFrame | None) -> list[Column]:
        """Return the columns of the table, with stored values where the file has none if there is a table for that."""

        def value(n: int) -> Column:
            if n not in self._file.incomplete:
                return f.col(f"c{n}")
            part = f.col(f"p{n}")
            return part["value"] if table is None else f.when(part.isNotNull(), part["value"]).otherwise(f.col(f"t{n}"))

        return [value(n).alias(each.name) for n, each in enumerate(self._fields)]


def typed_value(text: Column, kind: t.DataType) -> Column:
    """Return a value as the database writes it (arrays as JSON) in its type, as JDBC would give it."""
    match kind:
        case t.ArrayType():
            items = f.from_json(text, t.ArrayType(_as_texts(kind.elementType)))
            return _typed_items(items, kind)
        case t.BinaryType():
            # Bits are binary too, but written as they are.
            is_hex = text.startswith("\\x")
            return f.when(is_hex, f.unhex(f.substring(text, 3, 2**31 - 1))).otherwise(f.encode(text, "UTF-8"))
        case t.TimestampType() | t.TimestampNTZType():
            return _moment(text).cast(kind)
        case t.StringType():
            return text
    return text.cast(kind)


def _moment(text: Column) -> Column:
    """Return a moment as Spark reads it; a time of day is one of the first day of 1970."""
    found = f.when(text.rlike(r"^\d\d:"), f.concat(f.lit("1970-01-01 "), text))
    for name, value in _INFINITE.items():
        found = found.when(text == name, f.lit(value))
    return found.otherwise(text)


def _as_texts(kind: t.DataType) -> t.DataType:
    return t.ArrayType(_as_texts(kind.elementType)) if isinstance(kind, t.ArrayType) else t.StringType()


def _typed_items(items: Column, kind: t.ArrayType) -> Column:
    item = kind.elementType
    if isinstance(item, t.StringType):
        return items
    if isinstance(item, t.ArrayType):
        return f.transform(items, lambda each: _typed_items(each, item))
    return f.transform(items, lambda each: typed_value(each, item))
