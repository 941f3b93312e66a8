"""Detects the format of a file from its first bytes: kind, encoding, delimiter, quote, header and fields."""

import codecs
import csv
import gzip
import json
import re
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lakehold.connectors.files import excel
from lakehold.connectors.files.json_array import sample_array
from lakehold.connectors.files.settings import FileFormat, FileKind
from lakehold.connectors.sources import field_types, row_parsing
from lakehold.connectors.sources.field_types import StreamField, distinct_names
from lakehold.connectors.sources.row_parsing import csv_reader
from lakehold.kit.errors import NotFoundError, UnavailableError
from lakehold.lake.errors import DataError

_KIND_BY_SUFFIX = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt"), FileKind.SEPARATED),
    **dict.fromkeys((".jsonl", ".ndjson"), FileKind.LINES),
}
_SPARK_TYPES = {
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": field_types.BIGINT,
    "bool": field_types.BOOLEAN,
    "large_string": field_types.STRING,
}
_WORKBOOK_MAGIC = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_SAMPLE_RECORDS = 1_000
_MAX_FIELDS = 10_000
HEAD_SIZE = 1024 * 1024
_GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True, slots=True)
class FileHead:
    """The first bytes of a file."""

    name: str
    data: bytes
    whole: bool
    """Whether that is all of it."""

    def encoding(self) -> str:
        """Return the detected encoding; refuse bytes that are no text."""
        for mark, found in _BYTE_ORDER_MARKS:
            if self.data.startswith(mark):
                return found
        if b"\0" in self.data:
            even, odd = self.data[0::2].count(0), self.data[1::2].count(0)
            if max(even, odd) < len(self.data) / 8:
                raise DataError(f"{self.name} is not a text file.", "Choose a CSV, JSON, Parquet or Excel file.")
            return "utf-16be" if even > odd else "utf-16le"
        try:
            codecs.getincrementaldecoder("utf-8")().decode(self.data, final=self.whole)
        except UnicodeDecodeError:
            return "windows-1252"
        return "utf-8"

    def text(self, encoding: str) -> str:
        """Decode the bytes, with replacement characters for undecodable ones."""
        decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
        return decoder.decode(self.data, final=self.whole).removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")


def read_head(path: str, size: int = HEAD_SIZE) -> FileHead:
    """Return the first bytes of a file, decompressed if it is gzip."""
    file = Path(path)
    try:
        with file.open("rb") as opened:
            packed = opened.read(len(_GZIP)) == _GZIP
            # Spark goes by the name alone; an empty file that is called .gz is no gzip either.
            called = file.suffix.lower() == ".gz"
            if packed and not called:
                hint = "Rename it to end in .gz."
                raise DataError(f"{file.name} is compressed by gzip but does not end in .gz.", hint)
            if called and not packed:
                hint = "Remove .gz from its name, or compress it."
                raise DataError(f"{file.name} ends in .gz but is not compressed by gzip.", hint)
            opened.seek(0)
            data = (gzip.GzipFile(fileobj=opened) if packed else opened).read(size + 1)
    except FileNotFoundError:
        raise NotFoundError(f"There is no file {file.name}.", "It may have been deleted; upload it again.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        hint = "Compress it again and upload it."
        raise DataError(f"{file.name} is damaged: it cannot be decompressed.", hint) from error
    except OSError as error:
        raise UnavailableError(f"{file.name} cannot be read: {error.strerror or 'no reason is known'}.") from error
    return FileHead(file.name, data[:size], whole=len(data) <= size)


_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_LINES = 500


def _detect_quote(text: str) -> str:
    """Return the quote character of the values."""
    if '"' in text:
        return '"'
    signs = re.escape("".join(_DELIMITERS))
    single = re.findall(rf"(?:^|[{signs}])'[^'\n]*'(?=[{signs}]|$)", text, re.MULTILINE)
    return "'" if len(single) > 1 else '"'


def parse_rows(text: str, delimiter: str, quote: str, escape: str, *, whole: bool) -> list[list[str]]:
    """Return the rows, without the last one if it is incomplete. Empty lines are skipped."""
    try:
        # Over single lines, so that a quote that is never closed does not swallow the rest for nothing.
        found = list(csv_reader(text.splitlines(keepends=True), delimiter, quote, escape))
    except csv.Error as error:
        raise DataError(f"The values cannot be separated: {error}.", "Check quote and delimiter.") from error
    rows = [row for row in found if row]
    return rows if whole else rows[:-1]


def _score_delimiter(text: str, sign: str, quote: str, escape: str) -> tuple[float, int]:
    lines = text.splitlines(keepends=True)[:_SAMPLE_LINES]
    try:
        rows = [row for row in csv_reader(lines, sign, quote, escape) if row]
    except csv.Error:
        return (0.0, 0)
    if not rows:
        return (0.0, 0)
    width, count = Counter(len(row) for row in rows).most_common(1)[0]
    return (count / len(rows) if width > 1 else 0.0, width)


def detect_format(path: str) -> FileFormat:
    """Return the format of a file, as far as its first bytes tell."""
    start = read_head(path)
    if not start.data.strip():
        raise DataError(f"{start.name} is empty.", "Choose a file with at least the names of its fields.")
    if start.data.startswith(b"PAR1"):
        fields = (StreamField(each.name, _spark_type(each.type)) for each in _read_parquet_schema(path))
        return FileFormat(FileKind.PARQUET, tuple(fields))
    if start.data.startswith(_WORKBOOK_MAGIC):
        return excel.detect_sheet_format(path)
    encoding = start.encoding()
    text = start.text(encoding)
    kind = _detect_kind(start, text)
    if kind is FileKind.SEPARATED:
        return _detect_csv_format(start, encoding, text)
    if encoding != "utf-8":
        raise DataError(f"{start.name} is JSON, but not in utf-8.", "Save it as utf-8.")
    return FileFormat(kind, row_parsing.infer_fields(sample_objects(start, text, kind)))


def _detect_csv_format(start: FileHead, encoding: str, text: str) -> FileFormat:
    """Return the format of a CSV file."""
    quote = _detect_quote(text)
    escape = "\\" if f"\\{quote}" in text and quote * 2 not in text else quote
    # The most likely one: it gives most lines the same number of values, and several.
    sign = max(_DELIMITERS, key=lambda sign: _score_delimiter(text, sign, quote, escape))
    rows = parse_rows(text, sign, quote, escape, whole=start.whole)
    if not rows:
        raise DataError(f"The first line of {start.name} is longer than a million characters.", "It is not a table.")
    # Names are not empty, and no numbers, times or booleans.
    header = any(rows[0]) and all(field_types.infer_from_texts([name]) == field_types.STRING for name in rows[0])
    fields, notes = _infer_columns(rows, header=header)
    if encoding == "windows-1252":
        notes = (*notes, "It is not UTF-8; it is read as windows-1252.")
    return FileFormat(
        FileKind.SEPARATED,
        fields,
        encoding=encoding,
        delimiter=sign,
        quote=quote,
        escape=escape,
        header=header,
        # The bytes of a line's end are no line's end in other encodings.
        multiline=encoding.startswith("utf-16") or any("\n" in value for row in rows for value in row),
        notes=notes,
    )


def detect_fields(path: str, shape: FileFormat) -> tuple[StreamField, ...]:
    """Return the fields of a file whose delimiters have been chosen, but not its fields."""
    start = read_head(path)
    text = start.text(shape.encoding)
    if shape.kind in {FileKind.JSON, FileKind.LINES}:
        return row_parsing.infer_fields(sample_objects(start, text, shape.kind))
    if shape.kind is not FileKind.SEPARATED:
        return ()
    rows = parse_rows(text, shape.delimiter, shape.quote, shape.escape, whole=start.whole)
    return _infer_columns(rows, header=shape.header)[0] if rows else ()


def sample_objects(start: FileHead, text: str, kind: FileKind) -> list[dict[str, Any]]:
    """Return JSON objects from the head of a file, skipping lines that cannot be parsed."""
    if kind is FileKind.JSON:
        return sample_array(text, start.name, whole=start.whole)[:_SAMPLE_RECORDS]
    found: list[dict[str, Any]] = []
    for line in text.splitlines()[: _SAMPLE_RECORDS if start.whole else -1]:
        try:
            value = json.loads(line) if line.strip() else None
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _read_parquet_schema(path: str) -> pa.Schema:
    """Return the schema of a Parquet file."""
    try:
        return pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        name = PurePath(path).name
        raise DataError(f"{name} is damaged: it cannot be read as Parquet.", "Write it again.") from error


def _spark_type(kind: pa.DataType) -> str:
    """Return the Spark name of an Arrow type."""
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pa.types.is_timestamp(kind):
        return field_types.TIMESTAMP if kind.tz else field_types.TIMESTAMP_NTZ
    if pa.types.is_date(kind):
        return field_types.DATE
    return _SPARK_TYPES.get(str(kind), str(kind))


def _infer_columns(rows: list[list[str]], *, header: bool) -> tuple[tuple[StreamField, ...], tuple[str, ...]]:
    """Return fields with the narrowest types that fit, and messages about their names."""
    body = rows[1:] if header else rows
    width = len(rows[0]) if header else Counter(map(len, rows)).most_common(1)[0][0]
    if width > _MAX_FIELDS:
        raise DataError(f"The lines have {width:,} values.", f"Choose another delimiter; {_MAX_FIELDS:,} at most.")
    names, notes = distinct_names(rows[0] if header else [f"column_{number + 1}" for number in range(width)])
    whole = [row for row in body if len(row) == width]
    types = [field_types.infer_from_texts(row[place] for row in whole) for place in range(width)]
    return tuple(map(StreamField, names, types)), notes


def _detect_kind(start: FileHead, text: str) -> FileKind:
    path = PurePath(start.name.lower().removesuffix(".gz"))
    if found := _KIND_BY_SUFFIX.get(path.suffix):
        return found
    first = text.lstrip()[:1]
    if first == "[":
        return FileKind.JSON
    if first != "{":
        if path.suffix == ".json":
            raise DataError(f"{start.name} is not JSON: it begins with {first!r}.", "Choose another file.")
        return FileKind.SEPARATED
    try:
        json.loads(text.lstrip().split("\n", 1)[0])
    except ValueError:
        return FileKind.JSON
    return FileKind.LINES
