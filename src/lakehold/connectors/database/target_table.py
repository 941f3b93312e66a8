"""The target table of a delivery, its columns, and the staging table beside it.

Rows are written into a staging table first, whose columns are numbered, so that no field name is ever read as anything
else. From there they go into the table in one transaction. Values that the table would round or cut are refused.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import types as t

from lakehold.connectors.database.jdbc import JdbcConnection, JdbcDatabase
from lakehold.connectors.database.settings import DeliveryMode
from lakehold.connectors.error_translation import shorten, sql_state
from lakehold.lake.errors import DataError
from lakehold.lake.spark.fair_share import without_task_retries

RECEIPTS_TABLE = "lakehold_deliveries"
"""The table beside it that says which deliveries have arrived."""


@dataclass(frozen=True, slots=True)
class TargetTable:
    """A target table, by its quoted names."""

    table: str
    full_name: str
    """With its schema."""
    staging: str
    receipts: str
    columns: tuple[str, ...]
    """Those that rows are delivered to, in the order of the fields."""
    keys: tuple[str, ...]

    @property
    def staged_columns(self) -> tuple[str, ...]:
        """The names of the same columns in the staging table."""
        return tuple(f"lh_{number}" for number in range(len(self.columns)))

    def statements(self, mode: DeliveryMode, *, postgresql: bool) -> Iterator[str]:
        """Yield the statements that move all rows over."""
        others = [name for name in self.columns if name not in self.keys]
        columns, staged = ", ".join(self.columns), ", ".join(self.staged_columns)
        insert = f"INSERT INTO {self.full_name} ({columns}) SELECT {staged} FROM {self.staging}"
        match mode:
            case DeliveryMode.APPEND:
                yield insert
            case DeliveryMode.OVERWRITE:
                # Not by TRUNCATE, which some databases show before the commit.
                yield f"DELETE FROM {self.full_name}"
                yield insert
            case DeliveryMode.UPSERT if postgresql:
                # This needs a unique index over the keys.
                changes = ", ".join([f"{name} = EXCLUDED.{name}" for name in others])
                then = f"UPDATE SET {changes}" if others else "NOTHING"
                yield f"{insert} ON CONFLICT ({', '.join(self.keys)}) DO {then}"
            case DeliveryMode.UPSERT:
                yield from self._upsert_statements(others)

    def _upsert_statements(self, others: Sequence[str]) -> Iterator[str]:
        """Yield an upsert for any database: update the existing rows, then insert the others."""
        pairs = dict(zip(self.columns, self.staged_columns, strict=True))
        same = " AND ".join(f"s.{pairs[key]} = {self.table}.{key}" for key in self.keys)
        found = f"FROM {self.staging} s WHERE {same}"
        changes = [f"{name} = (SELECT s.{pairs[name]} {found})" for name in others]
        if changes:
            yield f"UPDATE {self.full_name} SET {', '.join(changes)} WHERE EXISTS (SELECT 1 {found})"
        yield (
            f"INSERT INTO {self.full_name} ({', '.join(self.columns)})"
            f" SELECT {', '.join([f's.{name}' for name in self.staged_columns])}"
            f" FROM {self.staging} s WHERE NOT EXISTS (SELECT 1 FROM {self.full_name} WHERE {same})"
        )


# As java.sql.Types has them.
_INTEGER_TYPES, _DECIMAL_TYPES, _REAL_TYPE, _DATE_TYPE = frozenset({-6, 5, 4, -5}), frozenset({2, 3}), 7, 91
_NO_TABLE, _NO_SCHEMA = "42P01", "3F000"


@dataclass(frozen=True, slots=True)
class TargetColumn:
    """A column of the existing table."""

    name: str
    type: int
    type_name: str
    precision: int
    scale: int


def table_columns(connection: JdbcConnection, full: str) -> list[TargetColumn] | None:
    """Return the columns of a table; None if there is no such table, or none that may be read."""
    try:
        with connection.query(f"SELECT * FROM {full} WHERE 1 = 0") as answer:
            metadata = answer.getMetaData()
            return [
                TargetColumn(
                    str(metadata.getColumnLabel(number)),
                    int(metadata.getColumnType(number)),
                    str(metadata.getColumnTypeName(number)),
                    int(metadata.getPrecision(number)),
                    int(metadata.getScale(number)),
                )
                for number in range(1, metadata.getColumnCount() + 1)
            ]
    except (Py4JError, PySparkException) as error:
        # Databases do not agree on a code for a table that is not there; those that say something else are believed.
        if sql_state(error) in {_NO_TABLE, _NO_SCHEMA} or not sql_state(error).startswith(("08", "28", "42501", "5")):
            return None
        raise


def match_columns(fields: t.StructType, columns: list[TargetColumn], table: str) -> tuple[str, ...]:
    """Return the column for each field, or refuse and name those that do not fit."""
    found = [_find_column(field.name, columns) for field in fields.fields]
    missing = [field.name for field, column in zip(fields.fields, found, strict=True) if column is None]
    if missing:
        hint = f"Add it there, or leave it out; it has: {', '.join(column.name for column in columns)}."
        raise DataError(f"The table {table} has no column for {', '.join(missing)}.", hint)
    there = [column for column in found if column is not None]
    twice = sorted({column.name for column in there if there.count(column) > 1})
    if twice:
        raise DataError(f"Several fields go into {', '.join(twice)} of {table}.", "Rename all but one.")
    lossy = [
        f"{field.name} is {field.dataType.simpleString()} and the column {column.type_name}"
        for field, column in zip(fields.fields, there, strict=True)
        if _is_lossy(field.dataType, column)
    ]
    if lossy:
        message = f"The table {table} would lose values: {'; '.join(lossy)}."
        raise DataError(message, "Convert it before, or change the column.")
    return tuple(column.name for column in there)


def _find_column(name: str, columns: list[TargetColumn]) -> TargetColumn | None:
    alike = [column for column in columns if column.name.lower() == name.lower()]
    return next((column for column in alike if column.name == name), alike[0] if alike else None)


def _is_lossy(kind: t.DataType, column: TargetColumn) -> bool:
    """Return whether the database would silently round or cut values. Where it raises an error, that is reported."""
    match kind:
        case t.FloatType() | t.DoubleType():
            return column.type in _INTEGER_TYPES or (column.type == _REAL_TYPE and isinstance(kind, t.DoubleType))
        case t.DecimalType():
            rounded = column.type in _DECIMAL_TYPES and column.precision > 0 and column.scale < kind.scale
            return (column.type in _INTEGER_TYPES and kind.scale > 0) or rounded
        case t.TimestampType() | t.TimestampNTZType():
            return column.type == _DATE_TYPE
        case _:
            return False


_BATCH_SIZE = 5_000


def fill_staging(
    connection: JdbcConnection, rows: DataFrame, target: TargetTable, database: JdbcDatabase, at_once: int
) -> None:
    """Recreate the staging table and let Spark write the rows into it, over several connections."""
    drop_staging(connection, target.staging)
    staged = rows.toDF(*target.staged_columns)
    if database.is_postgresql:
        # With the types of the table itself; and not logged, as it need not outlive a crash.
        pairs = ", ".join(f"{name} AS {new}" for name, new in zip(target.columns, target.staged_columns, strict=True))
        create = f"CREATE UNLOGGED TABLE {target.staging} AS SELECT {pairs} FROM {target.full_name} WITH NO DATA"
    else:
        types = ", ".join(f"{field.name} {connection.sql_type(field.dataType)}" for field in staged.schema.fields)
        create = f"CREATE TABLE {target.staging} ({types})"
    connection.execute(create)
    options = {**database.options, "dbtable": target.staging}
    writer = staged.write.format("jdbc").options(**options, batchsize=_BATCH_SIZE, numPartitions=at_once)
    with without_task_retries(rows.sparkSession):
        writer.mode("append").save()


def refuse_staged_duplicates(connection: JdbcConnection, target: TargetTable, keys: Sequence[str]) -> None:
    """Refuse rows with duplicate or missing keys. The staging table is queried, so the source is read only once."""
    staged = [new for name, new in zip(target.columns, target.staged_columns, strict=True) if name in target.keys]
    named, empty = ", ".join(staged), " OR ".join(f"{name} IS NULL" for name in staged)
    names = " and ".join(keys)
    without = query_number(connection, f"SELECT COUNT(*) FROM {target.staging} WHERE {empty}")
    if without:
        raise DataError(f"{without:,} rows have no {names}.", "Every row needs a key.")
    doubles = f"SELECT {named} FROM {target.staging} GROUP BY {named} HAVING COUNT(*) > 1"
    with connection.query(doubles) as answer:
        if not answer.next():
            return
        example = ", ".join(shorten(str(answer.getString(number)), longest=40) for number in range(1, len(staged) + 1))
    many = query_number(connection, f"SELECT COUNT(*) FROM ({doubles}) d")
    message = f"{many:,} keys appear more than once, such as {example}."
    raise DataError(message, f"Choose a unique key, or keep one row for each {names}.", foreign=example)


def drop_staging(connection: JdbcConnection, own: str) -> None:
    """Drop the staging table if it exists. If that fails now, the delivery's next attempt does it."""
    with suppress(Py4JError):
        connection.execute(f"DROP TABLE {own}")


def create_table(connection: JdbcConnection, full: str, statement: str) -> None:
    """Create a table; it is no error if somebody else has just created it."""
    try:
        connection.execute(statement)
    except Py4JError:
        if table_columns(connection, full) is None:
            raise


def query_number(connection: JdbcConnection, question: str) -> int:
    """Return the number that a query asks for."""
    with connection.query(question) as answer:
        answer.next()
        return int(answer.getLong(1))
