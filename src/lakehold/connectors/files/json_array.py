"""Reads files record by record in Spark's Python workers; and the records of a JSON array, with only one of them and a
read-ahead buffer in memory.
"""

import codecs
import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as t

from lakehold.connectors.error_translation import CarriedError
from lakehold.connectors.sources.row_parsing import MAX_ROW_BYTES
from lakehold.kit.errors import LakeholdError
from lakehold.lake.errors import DataError
from lakehold.lake.spark.local_rows import local_rows

_BUFFER_SIZE = 256 * 1024
_BATCH_SIZE = 1_000
_BLANK = re.compile(r"[ \t\r\n]*")
_decoder = json.JSONDecoder()

PlacedRecord = tuple[str, str]
"""A record as JSON, and where it stands."""


def read_in_tasks(
    spark: SparkSession, files: list[str], read_file: Callable[[str], Iterator[PlacedRecord]]
) -> DataFrame:
    """Return the records of the files, with the columns `raw` and `place`, each file read by one task."""

    def read_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for path in batch.column(0).to_pylist():
                try:
                    yield from _record_batches(read_file(path))
                except LakeholdError as error:
                    raise CarriedError(error) from None

    paths = local_rows(spark, [(file,) for file in files], t.StructType([t.StructField("path", t.StringType())]))
    return paths.repartition(max(1, len(files))).mapInArrow(read_batches, "raw string, place string")


def _record_batches(records: Iterator[PlacedRecord]) -> Iterator[pa.RecordBatch]:
    some: list[PlacedRecord] = []
    for record in records:
        some.append(record)
        if len(some) == _BATCH_SIZE or len(record[0]) > _BUFFER_SIZE:
            yield _record_batch(some)
            some = []
    if some:
        yield _record_batch(some)


def _record_batch(some: list[PlacedRecord]) -> pa.RecordBatch:
    arrays = [pa.array(values, pa.string()) for values in zip(*some, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, ["raw", "place"])


def read_array(path: str) -> Iterator[PlacedRecord]:
    """Yield the records of the JSON array in a file."""
    name = Path(path).name
    with Path(path).open("rb") as packed, gzip.open(packed) if path.lower().endswith(".gz") else packed as opened:
        for raw, number in _iterate_values(_decode(cast("BinaryIO", opened), name), name):
            yield raw, f"{name}, record {number}"


def sample_array(text: str, name: str, *, whole: bool) -> list[dict[str, Any]]:
    """Return the objects in the head of a file; refuse it if it is no JSON from its start."""
    found: list[dict[str, Any]] = []
    try:
        for raw, _ in _iterate_values(iter([text]), name):
            value = json.loads(raw)
            if isinstance(value, dict):
                found.append(value)
    except DataError:
        if whole or not found:
            raise
    return found


def _decode(file: BinaryIO, name: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    try:
        while chunk := file.read(_BUFFER_SIZE):
            yield decoder.decode(chunk)
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise DataError(f"{name} is not valid UTF-8.", "Save it as utf-8.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise DataError(f"{name} is damaged: it cannot be decompressed.", "Compress it again.") from None


def _iterate_values(chunks: Iterator[str], name: str) -> Iterator[tuple[str, int]]:
    text, number = _TextBuffer(chunks), 0
    if text.skip_blanks() != "[":
        yield text.read_value(name, 1), 1
        if text.skip_blanks():
            raise _broken_error(name, 1, "there is text after the object")
        return
    text.skip(1)
    while text.skip_blanks() != "]":
        if number:
            if text.skip_blanks() != ",":
                raise _broken_error(name, number, "a comma is missing after it")
            text.skip(1)
            text.skip_blanks()
        number += 1
        yield text.read_value(name, number), number
    text.skip(1)
    if text.skip_blanks():
        raise _broken_error(name, number, "there is text after the array")


class _TextBuffer:
    """Buffer over a text that is read in chunks."""

    def __init__(self, chunks: Iterator[str]) -> None:
        self._chunks = chunks
        self._here = ""
        self._at = 0

    def skip_blanks(self) -> str:
        """Skip blanks and return the next character, empty at the end."""
        while True:
            blank = _BLANK.match(self._here, self._at)
            self._at = blank.end() if blank else self._at
            if self._at < len(self._here):
                return self._here[self._at]
            if not self._read_more():
                return ""

    def skip(self, count: int) -> None:
        """Skip characters."""
        self._at += count

    def read_value(self, name: str, number: int) -> str:
        """Return the text of the JSON value that begins here."""
        while True:
            try:
                _, end = _decoder.raw_decode(self._here, self._at)
            except RecursionError:
                raise _broken_error(name, number, "it is nested too deeply") from None
            except ValueError as error:
                problem = str(error).split(":")[0].lower()
            else:
                # A number at the end of the window may go on behind it.
                if end < len(self._here) or not self._read_more():
                    found, self._at = self._here[self._at : end], end
                    return found
                continue
            if len(self._here) - self._at > MAX_ROW_BYTES or not self._read_more():
                raise _broken_error(name, number, problem)

    def _read_more(self) -> bool:
        # As much again as is there already: what is long is not looked through once for each piece.
        needed, found = max(1, len(self._here) - self._at), []
        while needed > 0 and (chunk := next(self._chunks, None)) is not None:
            found.append(chunk)
            needed -= len(chunk)
        self._here = self._here[self._at :] + "".join(found)
        self._at = 0
        return bool(found)


def _broken_error(name: str, number: int, problem: str) -> DataError:
    message = f"{name} is not valid JSON from record {number:,} on: {problem}."
    return DataError(message, "Correct the file and load it again.")
