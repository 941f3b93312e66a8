"""Parses texts into rows: separates good rows from bad ones, and explains for each bad row why it cannot be read.

Of JSON records, nested values stay JSON text: a field that changes deep inside an object then changes no table, and SQL
can still read it. Fields that were not expected are read as text; the table's writer decides whether to take them.
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import DataType, StringType, StructField, StructType

from lakehold.connectors.sources import field_types
from lakehold.connectors.sources.field_types import StreamField, distinct_names
from lakehold.connectors.sources.source import IncomingRows, Value
from lakehold.lake import row_formats
from lakehold.lake.errors import DataError

MAX_ROW_BYTES = 10_000_000
"""A text longer than this is no row."""
MAX_RAW_LENGTH = 10_000
"""As much of a bad text is kept."""
UNREADABLE = "\N{REPLACEMENT CHARACTER}"
_MAX_VALUE_LENGTH = 40
_UNKNOWN_REASON = "It does not fit the fields."
csv.field_size_limit(2**31 - 1)


def explain_json_row(fields: tuple[StreamField, ...], raw: str) -> str:
    """Return why a text is no JSON record with these fields."""
    try:
        found = json.loads(raw)
    except RecursionError:
        return "It is nested too deeply."
    except ValueError as error:
        return _describe_bad_encoding(raw) or f"It is not JSON: {_describe_json_error(error)}."
    if not isinstance(found, dict):
        return f"It is {_describe_json_type(found)}, not an object."
    return _describe_type_errors(found, fields) or _describe_bad_encoding(raw) or _UNKNOWN_REASON


def explain_csv_row(fields: tuple[StreamField, ...], signs: tuple[str, str, str], raw: str) -> str:
    """Return why a line is no CSV row with these fields; the signs are delimiter, quote and escape."""
    if problem := _describe_bad_encoding(raw):
        return problem
    try:
        values = next(csv_reader([raw], *signs, strict=True), [])
    except csv.Error:
        return "It has a quote that is not closed."
    if len(values) != len(fields):
        return f"It has {_count(len(values), 'value')} for {_count(len(fields), 'field')}."
    named = {field.name: value or None for field, value in zip(fields, values, strict=True)}
    return _describe_type_errors(named, fields) or _UNKNOWN_REASON


def csv_reader(
    lines: Iterable[str], delimiter: str, quote: str, escape: str, *, strict: bool = False
) -> Iterator[list[str]]:
    """Return Python's CSV reader, set up like Spark's."""
    return csv.reader(
        lines,
        delimiter=delimiter,
        quotechar=quote or None,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
        doublequote=escape == quote,
        escapechar=None if escape == quote else escape or None,
        strict=strict,
    )


def _describe_type_errors(values: dict[str, Any], fields: tuple[StreamField, ...]) -> str:
    found = [
        f"{field.name} is {_abbreviate(values.get(field.name))}, which is no {field.type}"
        for field in fields
        if not field_types.fits(values.get(field.name), field.type)
    ]
    return "; ".join(found[:3]) + "." if found else ""


def _describe_bad_encoding(raw: str) -> str:
    return "It has bytes that are not valid in this encoding." if UNREADABLE in raw else ""


def _describe_json_error(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg[:1].lower()}{error.msg[1:]}, at character {error.pos + 1}"
    return "a number in it cannot be read"


def _describe_json_type(value: object) -> str:
    names = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _abbreviate(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    cut = text if len(text) <= _MAX_VALUE_LENGTH else text[:_MAX_VALUE_LENGTH] + "…"
    return repr(cut) if isinstance(value, str) else cut


def _count(count: int, noun: str) -> str:
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"


MALFORMED = "_lakehold_malformed"
"""Where Spark's parsers put the text that they could not read."""
PARSER_OPTIONS = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": MALFORMED}
PARSED, _NUMBER, _BAD = "_lakehold_parsed", "_lakehold_number", "_lakehold_bad"
"""The column with the parser's result, and two of our own."""


def is_parsable(text: Column) -> Column:
    """Whether a text may be given to a parser: not too long, and valid UTF-8."""
    # Its bytes are known, its characters would have to be counted.
    return (f.octet_length(text) <= MAX_ROW_BYTES) & f.is_valid_utf8(text)


def split_bad_rows(
    texts: DataFrame,
    parsed: Column,
    bad: Column,
    good: Callable[[Column], Sequence[Column]],
    explain: Callable[[str], str],
) -> tuple[DataFrame, DataFrame]:
    """Return the good rows, and the bad ones with reason and text, of texts with the columns `raw` and `place`.

    The condition for bad rows refers to the column `PARSED`; a text that cannot be parsed is null, which counts as bad.
    """
    both = (
        texts.select("raw", "place", parsed.alias(PARSED), f.monotonically_increasing_id().alias(_NUMBER))
        # The number keeps the choice of rows behind the parser: before it, each text would be parsed twice.
        .select("*", f.coalesce(bad, f.lit(True)).alias(_BAD))
    )
    here = f.col(_NUMBER) >= 0
    rows = both.filter(~f.col(_BAD) & here).select(*good(f.col(PARSED)))
    return rows, _with_reason(both.filter(f.col(_BAD) & here), explain)


def reason_udf(explain: Callable[[str], str]) -> Callable[..., Column]:
    """Return the function that explains a text as a Spark UDF of a text and its length, evaluated once for each."""

    def reason(raw: str, length: int) -> str:
        if length > MAX_ROW_BYTES:
            return f"It is {length:,} bytes long; at most {MAX_ROW_BYTES:,} are read."
        return explain(raw)

    return f.udf(reason, "string", useArrow=False).asNondeterministic()


def _with_reason(rows: DataFrame, explain: Callable[[str], str]) -> DataFrame:
    text = f.make_valid_utf8("raw")
    # A text of ordinary length is compared as a whole; of a very long one it is enough to know that it is.
    whole = f.when(f.octet_length("raw") <= MAX_ROW_BYTES, text).otherwise(f.substring(text, 1, MAX_RAW_LENGTH))
    reason = reason_udf(explain)(whole, f.octet_length("raw"))
    cut = f.concat(f.substring(text, 1, MAX_RAW_LENGTH), f.lit("…"))
    shortened = f.when(f.length(text) > MAX_RAW_LENGTH, cut).otherwise(text)
    return rows.select(reason.alias("reason"), shortened.alias("raw"), "place")


MAX_FIELDS = 2_000
_RECORD = "r"


def infer_fields(records: Iterable[Mapping[str, Any]]) -> tuple[StreamField, ...]:
    """Return the fields of some records, in the order in which they appear."""
    values: dict[str, list[Any]] = {}
    for record in records:
        for name, value in record.items():
            values.setdefault(name, []).append(value)
    return tuple(StreamField(name, field_types.infer_from_json(found)) for name, found in values.items())


def cache_on_disk(texts: DataFrame) -> DataFrame:
    """Cache the texts on disk once they are read, for a source that should be read once."""
    return texts.persist(StorageLevel.DISK_ONLY)


def parse_records(texts: DataFrame, fields: tuple[StreamField, ...]) -> IncomingRows:
    """Return the rows of texts with the columns `raw` and `place`. The texts are searched for other fields first."""
    every = _with_unexpected_fields(texts, fields)
    names, notes = distinct_names(field.name for field in every)
    schema = StructType(
        [
            StructField(_RECORD, StructType([StructField(each.name, DataType.fromDDL(each.type)) for each in every])),
            StructField(MALFORMED, StringType()),
        ]
    )
    # Inside an object of ours a parser notices what stands behind the record; by itself it would pass over it.
    text = f.when(is_parsable(f.col("raw")), f.concat(f.lit(f'{{"{_RECORD}":'), f.col("raw"), f.lit("}")))
    parsed = f.from_json(text, schema, PARSER_OPTIONS)
    was = f.col(PARSED)
    bad = was.getField(MALFORMED).isNotNull() | was.getField(_RECORD).isNull()

    def good(found: Column) -> list[Column]:
        record = found.getField(_RECORD)
        return [record.getField(each.name).alias(name) for each, name in zip(every, names, strict=True)]

    rows, others = split_bad_rows(texts, parsed, bad, good, partial(explain_json_row, every))
    return IncomingRows(rows, others, notes=notes)


def _with_unexpected_fields(texts: DataFrame, fields: tuple[StreamField, ...]) -> tuple[StreamField, ...]:
    """Return the fields, and those that some records have besides them."""
    text = f.when(is_parsable(f.col("raw")), f.col("raw"))
    names = texts.select(f.explode(f.json_object_keys(text)).alias("name")).distinct()
    found = {row[0] for row in names.limit(MAX_FIELDS + 1).collect()}
    if len(found) > MAX_FIELDS:
        message = f"The records have more than {MAX_FIELDS:,} different fields."
        raise DataError(message, "Keys that are data should be values in a list.")
    others = sorted(found - {field.name for field in fields})
    every = (*fields, *(StreamField(name) for name in others))
    if not every:
        message = "No record has a field."
        raise DataError(message, "Check where the records are, and that there are any.")
    twins: dict[str, str] = {}
    for field in every:
        other = twins.setdefault(field.name.lower(), field.name)
        if other != field.name:
            raise DataError(f"Two fields are called {other!r} and {field.name!r}.", "SQL treats both names as one.")
    return every


def sample_value(value: object) -> Value:
    """Return a value for a sample: nested values as JSON, all others as they are."""
    plain_value = row_formats.to_json_value(value)
    if plain_value is None or isinstance(plain_value, str | int | float | bool):
        return plain_value
    return json.dumps(plain_value, ensure_ascii=False)
