"""Writes rows as an Excel workbook, line by line in constant memory.

A sheet holds 1,048,576 lines; what is over goes to more sheets. Texts are texts: none is run as a formula or made a
link. Excel keeps fifteen digits and whole milliseconds: a longer number is written as text, and a time loses its
microseconds. Times are written in UTC, as Excel knows no zones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from itertools import chain, islice
from pathlib import Path
from typing import Any

import xlsxwriter
from xlsxwriter.exceptions import XlsxFileError

from lakehold.connectors.destinations.delivery_folder import RowSpool
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.lake.errors import DataError

_MAX_LINES, _MAX_FIELDS, _MAX_CELL_LENGTH, _MAX_NUMBER = 1_048_576, 16_384, 32_767, 10**15
_FIRST_YEAR = 1900
_MAX_SHEET_NAME = 25
_FORBIDDEN_CHARS = "[]:*?/\\"

SheetRow = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ExcelFormat:
    """Excel: one workbook."""

    sheet: str = "Rows"
    """The name of the sheet; more are called `Rows 2`, `Rows 3`."""
    header: bool = True
    lines: int = _MAX_LINES
    """How many a sheet may have at the most, that with the names among them."""

    ending = "xlsx"

    def check(self) -> None:
        """Refuse options that Excel would refuse."""
        name = self.sheet
        if not 0 < len(name) <= _MAX_SHEET_NAME or set(name) & set(_FORBIDDEN_CHARS) or "'" in (name[0], name[-1]):
            message = f"A sheet cannot be called {quote(name)}."
            raise InvalidInputError(message, f"Use up to {_MAX_SHEET_NAME} letters, without any of {_FORBIDDEN_CHARS}.")
        if not 1 < self.lines <= _MAX_LINES:
            raise InvalidInputError(f"A sheet cannot have {self.lines:,} lines.", f"It has up to {_MAX_LINES:,}.")

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
                sheet = _Sheet(book.add_worksheet(self.sheet if sheets == 1 else f"{self.sheet} {sheets}"), names, days)
                if self.header:
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
