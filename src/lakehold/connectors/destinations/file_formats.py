"""File formats of deliveries, and rows converted to types that all of them have.

A workbook is written line by line in constant memory. A sheet holds 1,048,576 lines; what is over goes to more sheets.
Texts are texts: none is run as a formula or made a link. Excel keeps fifteen digits and whole milliseconds: a longer
number is written as text, and a time loses its microseconds. Times are written in UTC, as Excel knows no zones.
"""

import codecs
import csv
import io
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import xlsxwriter
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as t
from xlsxwriter.exceptions import XlsxFileError

from lakehold.connectors.destinations.delivery_folder import RowSpool, write_parquet
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.lake.errors import DataError
from lakehold.lake.row_formats import FORMULA_SIGNS, escape_formula, quote_identifier
from lakehold.lake.spark.table_writer import refuse_duplicate_fields

# To the microsecond, with the zone: as much as a timestamp holds.
TIMESTAMP_FORMAT = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"
TIMESTAMP_NTZ_FORMAT = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"
JSON_OPTIONS = {
    "ignoreNullFields": "false",
    "timestampFormat": TIMESTAMP_FORMAT,
    "timestampNTZFormat": TIMESTAMP_NTZ_FORMAT,
}
"""How rows become JSON: a field without a value is there too."""

_NUMBERS, _TIMES = (t.DecimalType, t.DoubleType, t.FloatType, t.IntegralType), (t.TimestampNTZType, t.TimestampType)
_SIMPLE_TYPES = (t.BooleanType, t.DateType, t.StringType, *_NUMBERS, *_TIMES)
_NESTED_TYPES = (t.ArrayType, t.MapType, t.StructType, t.VariantType)


def refuse_invalid_fields(rows: DataFrame) -> DataFrame:
    """Return the rows; refuse them if they have no fields, or two with the same name in SQL."""
    if not rows.columns:
        raise DataError("The rows have no fields, so there is nothing to deliver.", "Choose at least one field.")
    refuse_duplicate_fields(rows.schema)
    return rows


def to_flat_types(rows: DataFrame, *, binary: bool = False) -> DataFrame:
    """Return the rows with numbers, texts, times and booleans only: nested values as JSON, binary ones as base64."""
    return _convert_columns(rows, lambda column, kind: _flatten_column(column, kind, binary=binary))


def to_json_types(rows: DataFrame) -> DataFrame:
    """Return the rows as files and JSON can hold them: intervals, times of day and nulls as text."""
    return _convert_columns(rows, _as_json_type)


def _convert_columns(rows: DataFrame, convert: Callable[[Column, t.DataType], Column]) -> DataFrame:
    fields = rows.schema.fields
    return rows.select(
        *(convert(f.col(quote_identifier(each.name)), each.dataType).alias(each.name) for each in fields)
    )


def _as_json_type(column: Column, kind: t.DataType) -> Column:
    return column if isinstance(kind, (*_SIMPLE_TYPES, *_NESTED_TYPES, t.BinaryType)) else column.cast("string")


def _flatten_column(column: Column, kind: t.DataType, *, binary: bool) -> Column:
    if isinstance(kind, t.BinaryType):
        return column if binary else f.base64(column)
    return f.to_json(column, JSON_OPTIONS) if isinstance(kind, _NESTED_TYPES) else _as_json_type(column, kind)


_UTF8 = "utf-8"


@dataclass(frozen=True, slots=True)
class CsvFormat:
    """CSV: quotes doubled, lines ended by a newline, times to the microsecond with their zone.

    An empty text is written as "" and so differs from null. A text that a spreadsheet would run as a formula gets a '.
    """

    delimiter: str = ","
    header: bool = True
    encoding: str = _UTF8
    """As Python calls it; `utf-8-sig` is what Excel knows by itself."""

    ending = "csv"

    def check(self) -> None:
        """Refuse options that cannot be written."""
        if len(self.delimiter) != 1 or self.delimiter in '"\r\n\0':
            hint = "Use one character, such as a semicolon."
            raise InvalidInputError(f"{quote(self.delimiter)} cannot be a delimiter.", hint, field="delimiter")
        try:
            known = codecs.lookup(self.encoding)
            known.incrementalencoder().encode("a")
        except (LookupError, TypeError, ValueError, AttributeError):
            message = f"{quote(self.encoding)} is not a text encoding."
            raise InvalidInputError(message, "Use utf-8, utf-8-sig, cp1252 or another one.", field="encoding") from None

    def write_parts(self, rows: DataFrame, folder: Path) -> None:
        """Let Spark write the rows in parts, without header and as UTF-8."""
        ready = _convert_columns(to_flat_types(rows), _escape_formulas)
        if len(ready.columns) == 1:
            # A line with nothing on it is no row to anybody.
            ready = ready.select(f.coalesce(f.col(quote_identifier(ready.columns[0])).cast("string"), f.lit("")))
        ready.write.mode("overwrite").options(
            sep=self.delimiter,
            header="false",
            quote='"',
            escape='"',
            nullValue="",
            emptyValue='""',
            timestampFormat=TIMESTAMP_FORMAT,
            timestampNTZFormat=TIMESTAMP_NTZ_FORMAT,
            ignoreLeadingWhiteSpace="false",
            ignoreTrailingWhiteSpace="false",
            compression="none",
        ).csv(str(folder))

    def header_line(self, names: list[str]) -> bytes:
        """Return the header line, if there is one."""
        if not self.header:
            return b""
        line = io.StringIO()
        csv.writer(line, delimiter=self.delimiter, lineterminator="\n").writerow(map(escape_formula, names))
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


def _escape_formulas(column: Column, kind: t.DataType) -> Column:
    if not isinstance(kind, t.StringType):
        return column
    risky = f.substring(column, 1, 1).isin(*FORMULA_SIGNS)
    return f.when(risky, f.concat(f.lit("'"), column)).otherwise(column)


class CsvRowCounter:
    """Counts the rows of a text: newlines that are not between quotes."""

    def __init__(self) -> None:
        self._quotes = 0

    def __call__(self, chunk: bytes) -> int:
        """Return how many rows end in the next chunk of a text."""
        letters = np.frombuffer(chunk, np.uint8)
        quotes = np.cumsum(letters == ord('"')) + self._quotes
        self._quotes = int(quotes[-1]) & 1 if len(chunk) else self._quotes
        return int(np.count_nonzero((letters == ord("\n")) & (quotes & 1 == 0)))


@dataclass(frozen=True, slots=True)
class JsonLinesFormat:
    """JSON Lines: an object on each line, in UTF-8. A field without a value is null."""

    ending = "jsonl"

    def write_parts(self, rows: DataFrame, folder: Path) -> None:
        """Let Spark write the rows in parts."""
        to_json_types(rows).write.mode("overwrite").options(**JSON_OPTIONS, compression="none").json(str(folder))


@dataclass(frozen=True, slots=True)
class ParquetFormat:
    """Parquet: typed columns, compressed by Snappy."""

    ending = "parquet"

    def write_parts(self, rows: DataFrame, folder: Path) -> None:
        """Let Spark write the rows, in parts if they come in parts."""
        write_parquet(to_json_types(rows), folder, compression="snappy")


_MAX_LINES, _MAX_FIELDS, _MAX_CELL_LENGTH, _MAX_NUMBER = 1_048_576, 16_384, 32_767, 10**15
_FIRST_YEAR = 1900
_SHEET = "Rows"

SheetRow = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ExcelFormat:
    """Excel: one workbook, with the sheets `Rows`, `Rows 2`, `Rows 3`, as many as it takes."""

    lines: int = _MAX_LINES
    """How many a sheet may have at the most, that with the names among them."""

    ending = "xlsx"

    def write_workbook(self, spool: RowSpool, names: Sequence[str], file: Path) -> str:
        """Write the workbook; return a message for those who open it."""
        if len(names) > _MAX_FIELDS:
            raise DataError(f"The rows have {len(names):,} fields.", f"A sheet has {_MAX_FIELDS:,}: choose fewer.")
        try:
            sheets = self._write_sheets(file, spool, names)
        except XlsxFileError as error:
            raise OSError(getattr(error.args[0], "errno", None), "the workbook") from error
        return f"{sheets} sheets: one holds {self.lines:,} lines." if sheets > 1 else ""

    def _write_sheets(self, file: Path, spool: RowSpool, names: Sequence[str]) -> int:
        options = {"constant_memory": True, "tmpdir": str(file.parent), "default_date_format": "yyyy-mm-dd hh:mm:ss"}
        book = xlsxwriter.Workbook(str(file), options)
        days = book.add_format({"num_format": "yyyy-mm-dd"})
        batches = (zip(*(column.to_pylist() for column in batch.columns), strict=True) for batch in spool.batches())
        rows, sheets = chain.from_iterable(batches), 0
        try:
            first: SheetRow | None = next(rows, None)
            while first is not None or not sheets:
                sheets += 1
                sheet = _Sheet(book.add_worksheet(_SHEET if sheets == 1 else f"{_SHEET} {sheets}"), names, days)
                sheet.add_line(tuple(names))
                if first is not None:
                    for row in chain([first], islice(rows, self.lines - sheet.lines - 1)):
                        sheet.add_line(row)
                first = next(rows, None)
        finally:
            # Also after an error: it closes its own files.
            book.close()
        return sheets


class _Sheet:
    """Writes one sheet from the top."""

    def __init__(self, sheet: Any, names: Sequence[str], days: Any) -> None:  # noqa: ANN401 - xlsxwriter has no types
        self.lines = 0
        self._sheet, self._names, self._days = sheet, names, days

    def add_line(self, row: SheetRow) -> None:
        """Append a line."""
        for place, value in enumerate(row):
            if value is not None:
                self._write_cell(place, value)
        self.lines += 1

    def _write_cell(self, place: int, value: object) -> None:
        match value:
            case bool():
                self._sheet.write_boolean(self.lines, place, value)
            case int() | float() | Decimal() if _is_exact(value):
                self._sheet.write_number(self.lines, place, float(value))
            case float():
                self._write_text(place, "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity")
            case datetime() if value.year >= _FIRST_YEAR:
                self._sheet.write_datetime(self.lines, place, value.replace(tzinfo=None))
            case date() if value.year >= _FIRST_YEAR and not isinstance(value, datetime):
                self._sheet.write_datetime(self.lines, place, value, self._days)
            case date():
                self._write_text(place, value.isoformat())
            case _:
                self._write_text(place, str(value))

    def _write_text(self, place: int, text: str) -> None:
        if len(text.encode("utf-16-le")) // 2 > _MAX_CELL_LENGTH:
            raise DataError(
                f"A value of {self._names[place]!r} has {len(text):,} letters;"
                f" a cell of Excel holds {_MAX_CELL_LENGTH:,}.",
                "Shorten it, or deliver another kind of file.",
            )
        self._sheet.write_string(self.lines, place, text)


def _is_exact(value: float | Decimal) -> bool:
    """Return whether Excel keeps the number as it is. Fractions are kept as precisely as Excel can."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, Decimal):
        return value.is_finite() and len(value.as_tuple().digits) <= len(str(_MAX_NUMBER)) - 1
    return abs(value) < _MAX_NUMBER


OutputFormat = CsvFormat | JsonLinesFormat | ParquetFormat | ExcelFormat
