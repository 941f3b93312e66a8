"""The headers of separated values: each file's own, so that the order of columns may differ between files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import reduce

from lakehold.pipeline.connectors.inward.connector import Field, Incoming
from lakehold.pipeline.connectors.inward.files.beginning import SIZE, beginning
from lakehold.pipeline.connectors.inward.files.shape import FileFormat
from lakehold.pipeline.connectors.inward.names import distinct
from lakehold.pipeline.connectors.inward.reasons import reader
from lakehold.pipeline.errors import DataError

_LINE = re.compile(r"\r\n|\n|\r")
_SMALL = 64 * 1024


@dataclass(frozen=True, slots=True)
class Header:
    """Files with the same first line."""

    line: str
    fields: tuple[Field, ...]
    files: tuple[str, ...]
    notes: tuple[str, ...] = ()


def headers(files: list[str], shape: FileFormat) -> list[Header]:
    """The files by their headers. A file with nothing in it has none and adds nothing."""
    if not shape.header:
        return [Header("", shape.fields, tuple(files))]
    by_line: dict[str, list[str]] = {}
    for file in files:
        if line := _first_line(file, shape):
            by_line.setdefault(line, []).append(file)
    return [_header(line, some, shape) for line, some in by_line.items()]


def united(parts: list[Incoming]) -> Incoming:
    """Several as one, by the names of their fields."""
    bad = [each.bad for each in parts if each.bad is not None]
    totals = [each.total for each in parts]
    return Incoming(
        reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), (each.rows for each in parts)),
        reduce(lambda one, other: one.union(other), bad) if bad else None,
        None if None in totals else lambda: sum(total() for total in totals if total is not None),
        tuple(each for part in parts for each in part.kept),
        tuple(dict.fromkeys(note for part in parts for note in part.notes)),
    )


def _header(line: str, files: list[str], shape: FileFormat) -> Header:
    values = next(reader([line], shape.delimiter, shape.quote, shape.escape), [])
    names, notes = distinct(values)
    return Header(line, tuple(Field(name, shape.type_of(name)) for name in names), tuple(files), notes)


def _first_line(file: str, shape: FileFormat) -> str:
    """The first line with anything in it; empty if there is none."""
    for size in (_SMALL, SIZE):
        start = beginning(file, size)
        text = start.text(shape.encoding).lstrip("\r\n")
        if not text.strip():
            return ""
        found = _record(text) if shape.multiline else _LINE.split(text, maxsplit=1)[0]
        if start.whole or len(found) < len(text):
            return found
    raise DataError(f"The first line of {start.name} is longer than a million characters.", "It is no table.")


def _record(text: str) -> str:
    """The first record: a name may go over several lines too."""
    quotes, end = 0, 0
    for line in text.splitlines(keepends=True):
        quotes += line.count('"')
        end += len(line)
        if quotes % 2 == 0:
            break
    return text[:end].rstrip("\r\n")
