"""The records of a JSON array, one by one: only one of them, and what is read ahead, is in memory at a time."""

from __future__ import annotations

import codecs
import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from lakehold.pipeline.connectors.inward.files.paths import spread
from lakehold.pipeline.connectors.inward.reasons import LONGEST
from lakehold.pipeline.connectors.inward.trouble import Told
from lakehold.pipeline.errors import DataError

SCHEMA = "raw string, place string"
_AHEAD = 256 * 1024
_AT_ONCE = 1_000
_BLANK = re.compile(r"[ \t\r\n]*")
_decoder = json.JSONDecoder()


def texts(spark: SparkSession, files: list[str]) -> DataFrame:
    """The records of the files, each file read by itself."""
    return spread(spark, files).mapInArrow(_batches, SCHEMA)


def objects(text: str, name: str, *, whole: bool) -> list[dict[str, Any]]:
    """The objects in the beginning of a file; a refusal if it is no JSON from its start."""
    found: list[dict[str, Any]] = []
    try:
        for raw, _ in _pieces(iter([text]), name):
            value = json.loads(raw)
            if isinstance(value, dict):
                found.append(value)
    except Told as told:
        if whole or not found:
            raise told.error from None
    return found


def pieces(file: BinaryIO, name: str) -> Iterator[tuple[str, int]]:
    """The text of each record, and its number."""
    return _pieces(_decoded(file, name), name)


def _decoded(file: BinaryIO, name: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    try:
        while chunk := file.read(_AHEAD):
            yield decoder.decode(chunk)
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise Told(DataError(f"{name} has bytes that are no utf-8.", "Save it as utf-8.")) from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise Told(DataError(f"{name} is damaged: it cannot be unpacked.", "Pack it again.")) from None


def _batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for path in batch.column(0).to_pylist():
            yield from _of_file(path)


def _of_file(path: str) -> Iterator[pa.RecordBatch]:
    name = Path(path).name
    with Path(path).open("rb") as packed, gzip.open(packed) if path.lower().endswith(".gz") else packed as opened:
        some: list[tuple[str, str]] = []
        for raw, number in pieces(cast("BinaryIO", opened), name):
            some.append((raw, f"{name}, record {number}"))
            if len(some) == _AT_ONCE or len(raw) > _AHEAD:
                yield batch_of(some)
                some = []
        if some:
            yield batch_of(some)


def batch_of(some: list[tuple[str, str]]) -> pa.RecordBatch:
    """Texts and their places, as Spark takes them."""
    raws, places = zip(*some, strict=True)
    return pa.RecordBatch.from_arrays([pa.array(raws, pa.string()), pa.array(places, pa.string())], ["raw", "place"])


def _pieces(chunks: Iterator[str], name: str) -> Iterator[tuple[str, int]]:
    text, number = _Text(chunks), 0
    if text.skip() != "[":
        yield text.value(name, 1), 1
        if text.skip():
            raise _broken(name, 1, "something stands behind the object")
        return
    text.take(1)
    while text.skip() != "]":
        if number:
            if text.skip() != ",":
                raise _broken(name, number, "no comma stands behind it")
            text.take(1)
            text.skip()
        number += 1
        yield text.value(name, number), number
    text.take(1)
    if text.skip():
        raise _broken(name, number, "something stands behind the array")


class _Text:
    """A window on a text that is read piece by piece."""

    def __init__(self, chunks: Iterator[str]) -> None:
        self._chunks = chunks
        self._here = ""
        self._at = 0

    def skip(self) -> str:
        """Pass over blanks; the next character, empty at the end."""
        while True:
            blank = _BLANK.match(self._here, self._at)
            self._at = blank.end() if blank else self._at
            if self._at < len(self._here):
                return self._here[self._at]
            if not self._more():
                return ""

    def take(self, count: int) -> None:
        """Pass over characters."""
        self._at += count

    def value(self, name: str, number: int) -> str:
        """The text of the value that begins here."""
        while True:
            try:
                _, end = _decoder.raw_decode(self._here, self._at)
            except RecursionError:
                raise _broken(name, number, "it is nested too deeply") from None
            except ValueError as error:
                said = str(error).split(":")[0].lower()
            else:
                # A number at the end of the window may go on behind it.
                if end < len(self._here) or not self._more():
                    found, self._at = self._here[self._at : end], end
                    return found
                continue
            if len(self._here) - self._at > LONGEST or not self._more():
                raise _broken(name, number, said)

    def _more(self) -> bool:
        # As much again as is there already: what is long is not looked through once for each piece.
        wanted, found = max(1, len(self._here) - self._at), []
        while wanted > 0 and (chunk := next(self._chunks, None)) is not None:
            found.append(chunk)
            wanted -= len(chunk)
        self._here = self._here[self._at :] + "".join(found)
        self._at = 0
        return bool(found)


def _broken(name: str, number: int, said: str) -> Told:
    error = DataError(
        f"{name} is no JSON from its record {number:,} on: {said}.", "Correct the file and load it again."
    )
    return Told(error)
