"""File formats of deliveries (CSV, JSON Lines, Parquet; Excel is in `excel`), and rows converted to types that all of
them have.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
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

from lakehold.connectors.destinations.delivery_folder import DeliveryFolder, write_parquet
from lakehold.connectors.destinations.excel import ExcelFormat
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.lake.errors import DataError
from lakehold.lake.row_formats import quote_identifier
from lakehold.lake.spark.schema_evolution import refuse_duplicate_fields

# To the microsecond, with the zone: as much as a timestamp holds.
TIMESTAMP_FORMAT = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"
TIMESTAMP_NTZ_FORMAT = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"
JSON_OPTIONS = {
    "ignoreNullFields": "false",
    "timestampFormat": TIMESTAMP_FORMAT,
    "timestampNTZFormat": TIMESTAMP_NTZ_FORMAT,
}
"""How rows become JSON: a field without a value is there too."""

_SIMPLE_TYPES = (
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
_NESTED_TYPES = (ArrayType, MapType, StructType, VariantType)


def refuse_invalid_fields(rows: DataFrame) -> DataFrame:
    """Return the rows; refuse them if they have no fields, or two that are one to SQL."""
    if not rows.columns:
        raise DataError("The rows have no fields, so there is nothing to deliver.", "Choose at least one field.")
    refuse_duplicate_fields(rows.schema)
    return rows


def to_flat_types(rows: DataFrame, *, binary: bool = False) -> DataFrame:
    """Return the rows with numbers, texts, times and booleans only: nested values as JSON, binary ones as base64."""
    return rows.select(
        *(_flatten_column(field.name, field.dataType, binary).alias(field.name) for field in rows.schema.fields)
    )


def to_json_types(rows: DataFrame) -> DataFrame:
    """Return the rows as files and JSON can hold them: intervals, times of day and nulls as text."""
    return rows.select(
        *(
            f.col(quote_identifier(field.name))
            if isinstance(field.dataType, (*_SIMPLE_TYPES, *_NESTED_TYPES, BinaryType))
            else f.col(quote_identifier(field.name)).cast("string").alias(field.name)
            for field in rows.schema.fields
        )
    )


def _flatten_column(name: str, kind: DataType, binary: bool) -> Column:  # noqa: FBT001 - inner
    column = f.col(quote_identifier(name))
    if isinstance(kind, BinaryType):
        return column if binary else f.base64(column)
    if isinstance(kind, _NESTED_TYPES):
        return f.to_json(column, JSON_OPTIONS)
    return column if isinstance(kind, _SIMPLE_TYPES) else column.cast("string")


# With one of these a cell is a formula to some spreadsheet; the wide ones are typed in East Asia.
_FORMULA = "=+-@\t\r\n＝＋－＠"
_UTF8 = "utf-8"


@dataclass(frozen=True, slots=True)
class CsvFormat:
    """CSV: quotes doubled, lines ended by a newline, times to the microsecond with their zone."""

    delimiter: str = ","
    header: bool = True
    encoding: str = _UTF8
    """As Python calls it; `utf-8-sig` is what Excel knows by itself."""
    null: str = ""
    """What stands for a value that is not there. An empty text is written as "" and so differs from nothing."""
    guarded: bool = True
    """Whether a text that a spreadsheet would run as a formula gets a ' before it."""

    ending = "csv"

    def check(self) -> None:
        """Refuse options that cannot be written."""
        if len(self.delimiter) != 1 or self.delimiter in '"\r\n\0':
            raise InvalidInputError(
                f"{quote(self.delimiter)} cannot stand between fields.",
                "Use one character, such as a semicolon.",
                field="delimiter",
            )
        if any(letter in self.null for letter in f'{self.delimiter}"\r\n'):
            raise InvalidInputError(
                f"{quote(self.null)} cannot stand for nothing.", "Leave delimiters, quotes and line ends out of it."
            )
        try:
            known = codecs.lookup(self.encoding)
            known.incrementalencoder().encode("a")
        except (LookupError, TypeError, ValueError, AttributeError):
            raise InvalidInputError(
                f"{quote(self.encoding)} is no encoding of texts.",
                "Use utf-8, utf-8-sig, cp1252 or another one.",
                field="encoding",
            ) from None

    def write_parts(self, rows: DataFrame, folder: DeliveryFolder) -> None:
        """Let Spark write the rows in parts, without header and as UTF-8."""
        flat = to_flat_types(rows)
        texts = {field.name for field in flat.schema.fields if isinstance(field.dataType, StringType)}
        ready = flat.select(*(self._cell(name, name in texts).alias(name) for name in flat.columns))
        if len(ready.columns) == 1 and not self.null:
            # A line with nothing on it is no row to anybody.
            ready = ready.select(f.coalesce(f.col(quote_identifier(ready.columns[0])).cast("string"), f.lit("")))
        ready.write.mode("overwrite").options(
            sep=self.delimiter,
            header="false",
            quote='"',
            escape='"',
            nullValue=self.null,
            emptyValue='""',
            timestampFormat=TIMESTAMP_FORMAT,
            timestampNTZFormat=TIMESTAMP_NTZ_FORMAT,
            ignoreLeadingWhiteSpace="false",
            ignoreTrailingWhiteSpace="false",
            compression="none",
        ).csv(folder.address)

    def header_line(self, names: list[str]) -> bytes:
        """Return the header line, if there is one."""
        if not self.header:
            return b""
        line = io.StringIO()
        csv.writer(line, delimiter=self.delimiter, lineterminator="\n").writerow(map(self._name, names))
        return line.getvalue().encode()

    def encode(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Encode the chunks. A character that the encoding lacks is refused, not replaced."""
        if codecs.lookup(self.encoding).name == _UTF8:
            yield from chunks
            return
        decode, encode = codecs.getincrementaldecoder(_UTF8)(), codecs.getincrementalencoder(self.encoding)()
        try:
            for chunk in chunks:
                yield encode.encode(decode.decode(chunk))
            yield encode.encode(decode.decode(b"", final=True), final=True)
        except UnicodeEncodeError as error:
            letter = error.object[error.start]
            raise DataError(
                f"The encoding {self.encoding} has no {quote(letter)} (U+{ord(letter):04X}), and the rows have one.",
                "Choose utf-8, or replace it before.",
            ) from None

    def row_counter(self) -> Callable[[bytes], int]:
        """Return a function that counts the rows of a text given in chunks."""
        return _CsvRowCounter()

    def _cell(self, name: str, is_text: bool) -> Column:  # noqa: FBT001 - inner
        column = f.col(quote_identifier(name))
        if not (self.guarded and is_text):
            return column
        risky = f.substring(column, 1, 1).isin(*_FORMULA)
        return f.when(risky, f.concat(f.lit("'"), column)).otherwise(column)

    def _name(self, name: str) -> str:
        return f"'{name}" if self.guarded and name[:1] in _FORMULA else name


class _CsvRowCounter:
    """Counts newlines that are not between quotes."""

    def __init__(self) -> None:
        self._quotes = 0

    def __call__(self, chunk: bytes) -> int:
        letters = np.frombuffer(chunk, np.uint8)
        quotes = np.cumsum(letters == ord('"')) + self._quotes
        self._quotes = int(quotes[-1]) & 1 if len(chunk) else self._quotes
        return int(np.count_nonzero((letters == ord("\n")) & (quotes & 1 == 0)))


@dataclass(frozen=True, slots=True)
class JsonLinesFormat:
    """JSON Lines: an object on each line, in UTF-8. A field without a value is null."""

    ending = "jsonl"

    def write_parts(self, rows: DataFrame, folder: DeliveryFolder) -> None:
        """Let Spark write the rows in parts."""
        to_json_types(rows).write.mode("overwrite").options(**JSON_OPTIONS, compression="none").json(folder.address)

    def header_line(self, names: list[str]) -> bytes:
        """Return nothing: each line has the names."""
        del names
        return b""

    def encode(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Return the chunks unchanged: JSON is UTF-8."""
        return chunks

    def row_counter(self) -> Callable[[bytes], int]:
        """Return a function that counts the rows of a text given in chunks."""
        return lambda chunk: chunk.count(b"\n")


@dataclass(frozen=True, slots=True)
class ParquetFormat:
    """Parquet: typed columns, compressed by Snappy."""

    ending = "parquet"

    def write_parts(self, rows: DataFrame, folder: DeliveryFolder) -> None:
        """Let Spark write the rows, in parts if they come in parts."""
        write_parquet(to_json_types(rows), folder, compression="snappy")


OutputFormat = CsvFormat | JsonLinesFormat | ParquetFormat | ExcelFormat
