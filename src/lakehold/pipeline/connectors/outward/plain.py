"""Rows in types that everybody else has: what only Spark knows becomes text."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    MapType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
    VariantType,
)

from lakehold.pipeline.errors import DataError
from lakehold.pipeline.quoting import quoted
from lakehold.pipeline.spark.evolution import refuse_twins

# To the microsecond, with the zone: as much as a timestamp holds.
MOMENT = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"
MOMENT_WITHOUT_ZONE = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"
JSON = {"ignoreNullFields": "false", "timestampFormat": MOMENT, "timestampNTZFormat": MOMENT_WITHOUT_ZONE}
"""How rows become JSON: a field without a value is there too."""

_SIMPLE = (
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    StringType,
    TimestampNTZType,
    TimestampType,
)
_NESTED = (ArrayType, MapType, StructType, VariantType)


def checked(rows: DataFrame) -> DataFrame:
    """The rows, if they have fields and no two of them are one to SQL."""
    if not rows.columns:
        raise DataError("The rows have no fields, so there is nothing to deliver.", "Choose at least one field.")
    refuse_twins(rows.schema)
    return rows


def plain(rows: DataFrame, *, binary: bool = False) -> DataFrame:
    """The rows with numbers, texts, times and truth alone: what is nested is JSON, what is binary is base64."""
    return rows.select(*(_plain(field.name, field.dataType, binary).alias(field.name) for field in rows.schema.fields))


def timeless(rows: DataFrame) -> DataFrame:
    """The rows as files and JSON can have them: spans, times of day and nothings are text."""
    return rows.select(
        *(
            f.col(quoted(field.name))
            if isinstance(field.dataType, (*_SIMPLE, *_NESTED, BinaryType))
            else f.col(quoted(field.name)).cast("string").alias(field.name)
            for field in rows.schema.fields
        )
    )


def _plain(name: str, kind: DataType, binary: bool) -> Column:  # noqa: FBT001 - inner
    column = f.col(quoted(name))
    if isinstance(kind, BinaryType):
        return column if binary else f.base64(column)
    if isinstance(kind, _NESTED):
        return f.to_json(column, JSON)
    return column if isinstance(kind, _SIMPLE) else column.cast("string")
