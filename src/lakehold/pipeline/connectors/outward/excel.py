"""Rows as an Excel workbook, written line by line: as many as there may be, they take no more memory.

A sheet holds 1,048,576 lines; what is over goes to more sheets. Texts are texts: none is run as a formula or made a
link. Excel keeps fifteen digits and whole milliseconds: a longer number is written as text, and a time loses its
microseconds. Times are written in UTC, as Excel knows no zones.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

import xlsxwriter
from xlsxwriter.exceptions import XlsxFileError

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.pipeline.connectors.outward.folder import Folder
from lakehold.pipeline.connectors.outward.spool import Spool
from lakehold.pipeline.errors import DataError

_LINES, _FIELDS, _LETTERS, _DIGITS = 1_048_576, 16_384, 32_767, 10**15
_FIRST_YEAR = 1900
_NAME = 25
_AT_ONCE = 1 << 20
_NO_NAME = "[]:*?/\\"

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Excel:
    """How the workbook is written."""

    sheet: str = "Rows"
    """The name of the sheet; more are called `Rows 2`, `Rows 3`."""
    header: bool = True
    lines: int = _LINES
    """How many a sheet may have at the most, that with the names among them."""

    ending = "xlsx"

    def check(self) -> None:
        """Refuse what Excel would."""
        name = self.sheet
        if not 0 < len(name) <= _NAME or set(name) & set(_NO_NAME) or "'" in (name[0], name[-1]):
            raise InvalidInputError(
                f"A sheet cannot be called {quote(name)}.", f"Use up to {_NAME} letters, without any of {_NO_NAME}."
            )
        if not 1 < self.lines <= _LINES:
            raise InvalidInputError(f"A sheet cannot have {self.lines:,} lines.", f"It has up to {_LINES:,}.")

    def write(self, spool: Spool, names: Sequence[str], folder: Folder, file: str) -> str:
        """Write the workbook; what somebody who opens it should know."""
        if len(names) > _FIELDS:
            raise DataError(f"The rows have {len(names):,} fields.", f"A sheet has {_FIELDS:,}: choose fewer.")
        with tempfile.TemporaryDirectory() as rough:
            made = Path(rough) / "made.xlsx"
            try:
                sheets = self._filled(made, spool, names)
            except XlsxFileError as error:
                raise OSError(getattr(error.args[0], "errno", None), "the workbook") from error
            with made.open("rb") as source, folder.writing(file) as target:
                while chunk := source.read(_AT_ONCE):
                    target.write(chunk)
        return f"{sheets} sheets: one holds {self.lines:,} lines." if sheets > 1 else ""

    def _filled(self, file: Path, spool: Spool, names: Sequence[str]) -> int:
        options = {"constant_memory": True, "tmpdir": str(file.parent), "default_date_format": "yyyy-mm-dd hh:mm:ss"}
        book = xlsxwriter.Workbook(str(file), options)
        days = book.add_format({"num_format": "yyyy-mm-dd"})
        rows, sheets = _rows(spool), 0
        try:
            first: Row | None = next(rows, None)
            while first is not None or not sheets:
                sheets += 1
                sheet = _Sheet(book.add_worksheet(self.sheet if sheets == 1 else f"{self.sheet} {sheets}"), names, days)
                if self.header:
                    sheet.add(tuple(names))
                for row in _with(first, islice(rows, self.lines - sheet.lines - 1)):
                    sheet.add(row)
                first = next(rows, None)
        finally:
            # Also after an error: it closes its own files.
            book.close()
        return sheets


class _Sheet:
    """One sheet, filled from the top."""

    def __init__(self, sheet: Any, names: Sequence[str], days: Any) -> None:  # noqa: ANN401 - xlsxwriter has no types
        self.lines = 0
        self._sheet, self._names, self._days = sheet, names, days

    def add(self, row: Row) -> None:
        """The next line."""
        for place, value in enumerate(row):
            if value is not None:
                self._put(place, value)
        self.lines += 1

    def _put(self, place: int, value: object) -> None:
        match value:
            case bool():
                self._sheet.write_boolean(self.lines, place, value)
            case int() | float() | Decimal() if _fits(value):
                self._sheet.write_number(self.lines, place, float(value))
            case float():
                self._text(place, "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity")
            case datetime() if value.year >= _FIRST_YEAR:
                self._sheet.write_datetime(self.lines, place, value.replace(tzinfo=None))
            case date() if value.year >= _FIRST_YEAR and not isinstance(value, datetime):
                self._sheet.write_datetime(self.lines, place, value, self._days)
            case date():
                self._text(place, value.isoformat())
            case _:
                self._text(place, str(value))

    def _text(self, place: int, text: str) -> None:
        if len(text.encode("utf-16-le")) // 2 > _LETTERS:
            raise DataError(
                f"A value of {self._names[place]!r} has {len(text):,} letters; a cell of Excel holds {_LETTERS:,}.",
                "Shorten it, or deliver another kind of file.",
            )
        self._sheet.write_string(self.lines, place, text)


def _rows(spool: Spool) -> Iterator[Row]:
    for batch in spool.batches():
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _with(first: Row | None, rest: Iterator[Row]) -> Iterator[Row]:
    if first is not None:
        yield first
        yield from rest


def _fits(value: float | Decimal) -> bool:
    """Whether Excel keeps the number as it is. Numbers with a fraction are kept as well as Excel can."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, Decimal):
        return value.is_finite() and len(value.as_tuple().digits) <= len(str(_DIGITS)) - 1
    return abs(value) < _DIGITS
