"""Reads CSV files, line by line or with values that span several lines.

Empty values are null, empty lines are skipped, and a line that repeats the header is a header. Files with different
headers are united by field names. A line is bad if it has more or fewer values than there are fields, a value that is
not of its field's type, an unclosed quote, or undecodable bytes. Where a line is a row, all cores read a file at once.

A file with multiline values is read by one core. An unclosed quote could swallow the rows behind it: so if the quotes
of a file do not match up, every row of it with a multiline value counts as bad.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from lakehold.connectors.files.format_detection import HEAD_SIZE, read_head
from lakehold.connectors.files.settings import FileFormat
from lakehold.connectors.sources import field_types, row_parsing
from lakehold.connectors.sources.field_types import StreamField, distinct_names
from lakehold.connectors.sources.source import IncomingRows, union_rows
from lakehold.kit.errors import InvalidInputError
from lakehold.lake.errors import DataError

_LATIN_1 = "ISO-8859-1"
_BYTE_ORDER_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
# Where the two differ; what is no sign in one of them is unreadable.
_NUMBERS = range(0x80, 0xA0)
_LATIN_1_CHARS = "".join(map(chr, _NUMBERS))
_WINDOWS_CHARS = "".join(bytes([number]).decode("windows-1252", errors="replace") for number in _NUMBERS)
_SIGNS = re.compile(r"([\\*?\[\]{}^])")
_LINE = re.compile(r"\r\n|\n|\r")
_FIRST_TRY = 64 * 1024


@dataclass(frozen=True, slots=True)
class CsvHeader:
    """Files that share the same header line."""

    line: str
    fields: tuple[StreamField, ...]
    files: tuple[str, ...]
    notes: tuple[str, ...] = ()


def _group_by_header(files: list[str], shape: FileFormat) -> list[CsvHeader]:
    """Group the files by their header. An empty file has none and adds nothing."""
    if not shape.header:
        return [CsvHeader("", shape.fields, tuple(files))]
    by_line: dict[str, list[str]] = {}
    for file in files:
        if line := _first_line(file, shape):
            by_line.setdefault(line, []).append(file)
    return [_parse_header(line, some, shape) for line, some in by_line.items()]


def _parse_header(line: str, files: list[str], shape: FileFormat) -> CsvHeader:
    values = next(row_parsing.csv_reader([line], shape.delimiter, shape.quote, shape.escape), [])
    names, notes = distinct_names(values)
    return CsvHeader(line, tuple(StreamField(name, shape.field_type(name)) for name in names), tuple(files), notes)


def _first_line(file: str, shape: FileFormat) -> str:
    """Return the first line that is not blank; empty if there is none."""
    for size in (_FIRST_TRY, HEAD_SIZE):
        start = read_head(file, size)
        text = start.text(shape.encoding).lstrip("\r\n")
        if not text.strip():
            return ""
        found = _first_record(text) if shape.multiline else _LINE.split(text, maxsplit=1)[0]
        if start.whole or len(found) < len(text):
            return found
    raise DataError(f"The first line of {start.name} is longer than a million characters.", "It is not a table.")


def _first_record(text: str) -> str:
    """Return the first record: a quoted name may span several lines."""
    quotes, end = 0, 0
    for line in text.splitlines(keepends=True):
        quotes += line.count('"')
        end += len(line)
        if quotes % 2 == 0:
            break
    return text[:end].rstrip("\r\n")


MAX_VALUES = 100_000


def read_csv(spark: SparkSession, files: list[str], shape: FileFormat) -> IncomingRows:
    """Read CSV files, united by the names of their fields."""
    headers = _group_by_header(files, shape)
    if not headers:
        raise DataError("All files are empty.", "Add one with at least the names of its fields.")
    read_part = _read_multiline_part if shape.multiline else _read_lines_part
    return union_rows([read_part(spark, each, shape) for each in headers])


def _parser_options(shape: FileFormat) -> dict[str, str]:
    """Return the options of Spark's CSV parser."""
    return {
        **row_parsing.PARSER_OPTIONS,
        "sep": shape.delimiter,
        "quote": shape.quote,
        "escape": shape.escape or "\0",
        "maxColumns": str(MAX_VALUES + 1),
    }


def _parser_schema(fields: tuple[StreamField, ...]) -> str:
    """Return the schema with fields by number, as their names may be anything, and a column for malformed text."""
    numbered = [f"c{place} {field.type}" for place, field in enumerate(fields)]
    return ", ".join([*numbered, f"{row_parsing.MALFORMED} string"])


def _read_lines_part(spark: SparkSession, header: CsvHeader, shape: FileFormat) -> IncomingRows:
    texts = read_lines(spark, header.files, shape)
    if shape.header:
        texts = texts.filter(f.col("raw") != header.line)
    raw = f.col("raw")
    parsed = f.from_csv(
        f.when(row_parsing.is_parsable(raw) & ~_has_too_many_values(raw, shape), raw),
        _parser_schema(header.fields),
        _parser_options(shape),
    )
    was = f.col(row_parsing.PARSED)
    bad = was.isNull() | was.getField(row_parsing.MALFORMED).isNotNull() | _has_unclosed_quote(raw, shape)
    if shape.encoding != "utf-8":
        bad |= _has_bad_bytes(raw)

    def good(found: Column) -> list[Column]:
        return [found.getField(f"c{place}").alias(field.name) for place, field in enumerate(header.fields)]

    rows, others = row_parsing.split_bad_rows(texts, parsed, bad, good, _explain_row(header, shape))
    return IncomingRows(rows, others, total=texts.count, notes=header.notes)


def read_lines(spark: SparkSession, files: Sequence[str], shape: FileFormat) -> DataFrame:
    """Return the lines of text files that are not blank, with the columns `raw` and `place`."""
    value = _decode_line(f.col("value"), shape.encoding)
    found = spark.read.text(spark_paths(files)).select(value.alias("raw"), _source_file_name().alias("place"))
    return found.filter(f.trim("raw") != "")


def _has_too_many_values(raw: Column, shape: FileFormat) -> Column:
    """Whether a line has more values than the parser takes; a short line cannot."""
    delimiters = f.length(raw) - f.length(f.replace(raw, f.lit(shape.delimiter), f.lit("")))
    return (f.octet_length(raw) > MAX_VALUES) & (delimiters >= MAX_VALUES)


def _has_unclosed_quote(raw: Column, shape: FileFormat) -> Column:
    """Whether a value begins with a quote and does not end with one, which Spark would accept."""
    if not shape.quote:
        return f.lit(False)
    quote, sign = re.escape(shape.quote), re.escape(shape.delimiter)
    inner = f"[^{quote}]*+(?:{quote}{quote}[^{quote}]*+)*+"
    if shape.escape != shape.quote:
        escape = re.escape(shape.escape)
        inner = f"(?:[^{quote}{escape}]|{escape}.)*+"
    left = f.regexp_replace(raw, f"(?<=^|{sign}){quote}{inner}{quote}(?=$|{sign})", "")
    return raw.contains(shape.quote) & left.rlike(f"(^|{sign}){quote}")


_SMALLEST = -(2**31)
_SWALLOWED = "It has a value over several lines, and the quotes do not match up."


def _read_multiline_part(spark: SparkSession, header: CsvHeader, shape: FileFormat) -> IncomingRows:
    # Spark has no windows-1252: what differs is corrected.
    encoding = _LATIN_1 if shape.encoding == "windows-1252" else shape.encoding.upper()
    reader = spark.read.schema(_parser_schema(header.fields)).options(**_parser_options(shape))
    found = (
        reader.options(multiLine=True, header=shape.header, encoding=encoding)
        .csv(spark_paths(header.files))
        .select("*", _source_file_name().alias("place"))
    )
    columns = [f.col(f"c{place}") for place in range(len(header.fields))]
    encodings = [shape.encoding if field.type == field_types.STRING else "utf-8" for field in header.fields]
    texts = [column for column, field in zip(columns, header.fields, strict=True) if field.type == field_types.STRING]
    swallowed = _may_swallow_rows(texts, _files_with_odd_quotes(spark, header, shape), shape)
    no_text = _any_of([_has_bad_bytes(_correct_encoding(text, shape.encoding)) for text in texts])
    bad = f.coalesce(f.col(row_parsing.MALFORMED).isNotNull() | swallowed | no_text, f.lit(True))
    # A query for bad rows alone must read every value, or a wrong type would not be noticed.
    every = f.hash(*columns) >= _SMALLEST
    named = zip(map(_correct_encoding, columns, encodings), header.fields, strict=True)
    rows = found.filter(~bad & every).select(*(column.alias(field.name) for column, field in named))
    others = _with_multiline_reason(found.filter(bad & every), swallowed, header, shape)
    return IncomingRows(rows, others, notes=header.notes)


def _with_multiline_reason(rows: DataFrame, swallowed: Column, header: CsvHeader, shape: FileFormat) -> DataFrame:
    values = f.to_csv(f.struct(*(f.col(f"c{place}") for place in range(len(header.fields)))))
    raw = _correct_encoding(f.coalesce(f.col(row_parsing.MALFORMED), values), shape.encoding)
    said = row_parsing.reason_udf(_explain_row(header, shape))
    whole = swallowed & f.col(row_parsing.MALFORMED).isNull()
    lines = rows.select(raw.alias("raw"), "place", whole.alias("swallowed"))
    return lines.select("*", said("raw", f.octet_length("raw")).alias("said")).select(
        f.when(f.col("swallowed"), f.lit(_SWALLOWED)).otherwise(f.col("said")).alias("reason"),
        f.substring("raw", 1, row_parsing.MAX_RAW_LENGTH).alias("raw"),
        "place",
    )


def _explain_row(header: CsvHeader, shape: FileFormat) -> Callable[[str], str]:
    return partial(row_parsing.explain_csv_row, header.fields, (shape.delimiter, shape.quote, shape.escape))


def _may_swallow_rows(texts: list[Column], odd: list[str], shape: FileFormat) -> Column:
    over = _any_of([text.contains("\n") for text in texts])
    quoted = [text.contains("\n") & text.startswith(shape.quote) for text in texts] if shape.quote else []
    return _any_of(quoted) | (over & f.col("place").isin(odd) if odd else f.lit(False))


def _files_with_odd_quotes(spark: SparkSession, header: CsvHeader, shape: FileFormat) -> list[str]:
    """Return the files whose quotes do not match up, counted in bytes and so not for every encoding."""
    if shape.encoding.startswith("utf-16") or not shape.quote:
        return []
    value = f.col("value")
    if shape.escape != shape.quote:
        value = f.replace(value, f.lit(shape.escape + shape.quote), f.lit(""))
    count = f.octet_length(value) - f.octet_length(f.replace(value, f.lit(shape.quote), f.lit("")))
    lines = spark.read.text(spark_paths(header.files)).select("value", _source_file_name().alias("place"))
    quotes = lines.groupBy("place").agg(f.sum(count).alias("count"))
    return [row["place"] for row in quotes.filter("count % 2 = 1").select("place").collect()]


def _any_of(conditions: list[Column]) -> Column:
    found = (f.coalesce(each, f.lit(False)) for each in conditions)
    return reduce(lambda one, other: one | other, found, f.lit(False))


def _correct_encoding(text: Column, encoding: str) -> Column:
    """Correct a text that Spark read with its nearest encoding."""
    return f.translate(text, _LATIN_1_CHARS, _WINDOWS_CHARS) if encoding == "windows-1252" else text


def _decode_line(value: Column, encoding: str) -> Column:
    """Decode a line of bytes, without the byte order mark that the first one may have."""
    if encoding == "utf-8":
        return f.when(value.startswith(_BYTE_ORDER_MARK), f.substring(value, 2, 2**31 - 1)).otherwise(value)
    return _correct_encoding(f.decode(value.cast("binary"), _LATIN_1), encoding)


def _has_bad_bytes(text: Column) -> Column:
    """Whether a text has replacement characters for undecodable bytes."""
    return text.contains(row_parsing.UNREADABLE)


def spark_paths(files: Sequence[str]) -> list[str]:
    """Return the files as paths for Spark, with wildcard characters escaped."""
    for file in files:
        name = Path(file).name
        if name.startswith(("_", ".")):
            # Spark would pass over it without a word.
            raise InvalidInputError(f"{name} is a hidden file.", "Give it a name that does not begin with _ or a dot.")
    return ["file:" + _SIGNS.sub(r"\\\1", file) for file in files]


def _source_file_name() -> Column:
    """Return a column with the name of the file that a row comes from."""
    # Spark tells it as part of an address, in which a plus is one.
    return f.url_decode(f.replace(f.col("_metadata.file_name"), f.lit("+"), f.lit("%2B")))
