"""Adapts the schema of a table when incoming rows have other fields."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as t

from lakehold.lake.errors import DataError
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.row_formats import quote_identifier
from lakehold.lake.spark.tables import Tables


class SchemaEvolution(StrEnum):
    """How a write handles rows with other fields than the table has."""

    MERGE = "merge"
    """New fields are added, types are widened where nothing is lost; a missing field is empty."""
    STRICT = "strict"
    """Any difference is refused."""
    OVERWRITE = "overwrite"
    """The table gets the fields of what arrives; only where all rows are replaced."""


_WIDER: dict[type[t.DataType], tuple[type[t.DataType], ...]] = {
    t.ByteType: (t.IntegerType, t.LongType),
    t.ShortType: (t.IntegerType, t.LongType),
    t.IntegerType: (t.LongType,),
    t.FloatType: (t.DoubleType,),
}
# Iceberg keeps small whole numbers as int.
_STORED_AS: dict[type[t.DataType], t.DataType] = {t.ByteType: t.IntegerType(), t.ShortType: t.IntegerType()}
_SAFE: dict[type[t.DataType], tuple[type[t.DataType], ...]] = {
    t.LongType: (t.IntegerType, t.ShortType, t.ByteType),
    t.DoubleType: (t.FloatType,),
    t.TimestampNTZType: (t.DateType,),
}


def conform_rows(tables: Tables, place: TableIdentifier, rows: DataFrame, evolution: SchemaEvolution) -> DataFrame:
    """Return the rows with the fields of the table, which is extended where needed; or refuse and name the field."""
    has, comes = tables.schema(place), rows.schema
    refuse_duplicate_fields(comes)
    differences = list(_differences(has, comes))
    if differences and evolution is SchemaEvolution.STRICT:
        message = f"The fields do not fit the table: {'; '.join(text for text, _ in differences)}."
        raise DataError(message, "Allow merging, or correct them.")
    refused = [text for text, merges in differences if not merges]
    if refused:
        raise DataError(f"The fields do not fit the table: {'; '.join(refused)}.", "Convert them before they arrive.")
    if differences:
        _alter_table(tables, place, has, comes)
        has = tables.schema(place)
    by_name = {field.name.lower(): field.name for field in comes.fields}
    return rows.select(
        *(
            f.col(quote_identifier(by_name[field.name.lower()])).cast(field.dataType).alias(field.name)
            if field.name.lower() in by_name
            else f.lit(None).cast(field.dataType).alias(field.name)
            for field in has.fields
        )
    )


def apply_types_if_empty(tables: Tables, place: TableIdentifier, rows: DataFrame) -> DataFrame:
    """Return the rows; if there are none, with the types of the table, as an empty result says nothing of its types."""
    if not tables.exists(place):
        return rows
    kinds = {field.name.lower(): field.dataType for field in tables.schema(place).fields}
    typed = t.StructType(
        [t.StructField(field.name, kinds.get(field.name.lower(), field.dataType)) for field in rows.schema.fields]
    )
    same = [field.dataType for field in typed.fields] == [field.dataType for field in rows.schema.fields]
    return rows if same or rows.limit(1).count() else tables.session.createDataFrame([], typed)


def refuse_duplicate_fields(schema: t.StructType) -> None:
    """Refuse two fields whose names differ by case alone, which are one to SQL."""
    seen: dict[str, str] = {}
    for field in schema.fields:
        other = seen.setdefault(field.name.lower(), field.name)
        if other is not field.name:
            raise DataError(f"Two fields are called {other!r} and {field.name!r}.", "Rename one of them.")


def _differences(has: t.StructType, comes: t.StructType) -> Iterator[tuple[str, bool]]:
    """Yield the differences as messages, each with whether it can be merged."""
    there = {field.name.lower(): field for field in has.fields}
    for field in comes.fields:
        old = there.get(field.name.lower())
        if old is None:
            yield f"{field.name} is new", True
        elif not _fits(field.dataType, old.dataType):
            if _is_widening(old.dataType, field.dataType):
                yield f"{field.name} is {field.dataType.simpleString()} and was {old.dataType.simpleString()}", True
            else:
                kinds = f"{field.dataType.simpleString()} into the table's {old.dataType.simpleString()}"
                yield f"cannot turn {field.name} of type {kinds}", False
    arriving = {field.name.lower() for field in comes.fields}
    for name, field in there.items():
        if name not in arriving:
            yield f"{field.name} is missing", True


def _fits(comes: t.DataType, has: t.DataType) -> bool:
    """Return whether every value of the incoming type is a value of the table's type."""
    if comes == has or type(comes) in _SAFE.get(type(has), ()) or comes.simpleString() in {"void", has.simpleString()}:
        return True
    if isinstance(comes, t.DecimalType) and isinstance(has, t.DecimalType):
        return comes.scale <= has.scale and comes.precision - comes.scale <= has.precision - has.scale
    return type(comes) in _STORED_AS and isinstance(has, t.IntegerType)


def _is_widening(has: t.DataType, comes: t.DataType) -> bool:
    """Return whether Iceberg can widen the type without rewriting files."""
    if isinstance(has, t.DecimalType) and isinstance(comes, t.DecimalType):
        return comes.scale == has.scale and comes.precision > has.precision
    return type(comes) in _WIDER.get(type(has), ())


def _alter_table(tables: Tables, place: TableIdentifier, has: t.StructType, comes: t.StructType) -> None:
    session = tables.session
    there = {field.name.lower(): field for field in has.fields}
    for field in comes.fields:
        old = there.get(field.name.lower())
        if old is None:
            session.sql(f"ALTER TABLE {place.sql} ADD COLUMN {quote_identifier(field.name)} {_sql_type(field)}")
        elif _is_widening(old.dataType, field.dataType):
            column, new_type = quote_identifier(old.name), field.dataType.simpleString()
            session.sql(f"ALTER TABLE {place.sql} ALTER COLUMN {column} TYPE {new_type}")


def _sql_type(field: t.StructField) -> str:
    if field.dataType.simpleString() == "void":
        return "string"
    return _STORED_AS.get(type(field.dataType), field.dataType).simpleString()
