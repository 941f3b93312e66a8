"""Which field goes into which column of a database's table; what would lose something on the way is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql.types import (
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from lakehold.pipeline.connectors.outward.database import Connection
from lakehold.pipeline.connectors.outward.trouble import sql_state
from lakehold.pipeline.errors import DataError

# As java.sql.Types has them.
_WHOLE, _DECIMAL, _REAL, _DATE = frozenset({-6, 5, 4, -5}), frozenset({2, 3}), 7, 91
_NO_TABLE, _NO_SCHEMA = "42P01", "3F000"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table that is there."""

    name: str
    type: int
    type_name: str
    precision: int
    scale: int


def columns_of(connection: Connection, full: str) -> list[Column] | None:
    """The columns of a table; None if there is no such table, or none that may be read."""
    try:
        with connection.asked(f"SELECT * FROM {full} WHERE 1 = 0") as answer:  # noqa: S608 - names are quoted
            told = answer.getMetaData()
            return [
                Column(
                    str(told.getColumnLabel(number)),
                    int(told.getColumnType(number)),
                    str(told.getColumnTypeName(number)),
                    int(told.getPrecision(number)),
                    int(told.getScale(number)),
                )
                for number in range(1, told.getColumnCount() + 1)
            ]
    except (Py4JError, PySparkException) as error:
        # Databases do not agree on a code for a table that is not there; those that say something else are believed.
        if sql_state(error) in {_NO_TABLE, _NO_SCHEMA} or not sql_state(error).startswith(("08", "28", "42501", "5")):
            return None
        raise


def fitted(fields: StructType, columns: list[Column], table: str) -> tuple[str, ...]:
    """The column of each field, or a refusal that names those that do not fit."""
    found = [_column(field.name, columns) for field in fields.fields]
    missing = [field.name for field, column in zip(fields.fields, found, strict=True) if column is None]
    if missing:
        raise DataError(
            f"The table {table} has no column for {', '.join(missing)}.",
            f"Add it there, or leave it out; it has: {', '.join(column.name for column in columns)}.",
        )
    there = [column for column in found if column is not None]
    twice = sorted({column.name for column in there if there.count(column) > 1})
    if twice:
        raise DataError(f"Several fields go into {', '.join(twice)} of {table}.", "Rename all but one.")
    lossy = list(_lossy(fields, there))
    if lossy:
        raise DataError(
            f"The table {table} would lose something: {'; '.join(lossy)}.", "Convert it before, or change the column."
        )
    return tuple(column.name for column in there)


def _column(name: str, columns: list[Column]) -> Column | None:
    exact = [column for column in columns if column.name == name]
    alike = exact or [column for column in columns if column.name.lower() == name.lower()]
    return alike[0] if alike else None


def _lossy(fields: StructType, columns: list[Column]) -> Iterator[str]:
    for field, column in zip(fields.fields, columns, strict=True):
        if _loses(field.dataType, column):
            yield f"{field.name} is {field.dataType.simpleString()} and the column {column.type_name}"


def _loses(kind: DataType, column: Column) -> bool:
    """Whether the database would round or cut without a word. Where it complains, its complaint is told."""
    match kind:
        case FloatType() | DoubleType():
            return column.type in _WHOLE or (column.type == _REAL and isinstance(kind, DoubleType))
        case DecimalType():
            rounded = column.type in _DECIMAL and column.precision > 0 and column.scale < kind.scale
            return (column.type in _WHOLE and kind.scale > 0) or rounded
        case TimestampType() | TimestampNTZType():
            return column.type == _DATE
        case _:
            return False
