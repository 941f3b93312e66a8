"""Rows of a sheet of an Excel workbook.

The library that reads workbooks holds the cells of one sheet in memory at a time, beside Spark, in the process that
reads the file: a million cells took 73 MiB, some 80 bytes each. So a workbook is refused that is larger than
`MOST_BYTES` as a file or `MOST_UNPACKED` without its packing, which is room for some 14 million cells and 1 GiB. Its
rows go on to Spark in small parts. A formula is read as the value that was saved with it, and one that failed as empty.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetTypeEnum, WorksheetNotFound

from lakehold.kit.errors import NotFoundError
from lakehold.pipeline.connectors.inward import kinds
from lakehold.pipeline.connectors.inward.connector import Field, Value
from lakehold.pipeline.connectors.inward.files.arrays import SCHEMA, batch_of
from lakehold.pipeline.connectors.inward.files.paths import spread
from lakehold.pipeline.connectors.inward.files.shape import FileFormat, Kind
from lakehold.pipeline.connectors.inward.names import distinct
from lakehold.pipeline.connectors.inward.trouble import Told
from lakehold.pipeline.errors import DataError

MOST_BYTES = 100 * 1024 * 1024
MOST_UNPACKED = 512 * 1024 * 1024
_SOME = 1_000
_AT_ONCE = 1_000
_EXACT = 2**53


def guess(path: str, sheet: str = "") -> FileFormat:
    """How a sheet is to be read."""
    with opened(path) as book:
        name = sheet or sheets_of(book)[0]
        rows = [row for _, row in islice(_rows(book, name), _SOME)]
    if not rows:
        return FileFormat(Kind.EXCEL, sheet=name, notes=(f"The sheet {name} is empty.",))
    header = all(isinstance(cell, str) for cell in rows[0]) and any(rows[0])
    names, notes = distinct(_names(rows[0]) if header else [f"column_{n + 1}" for n in range(len(rows[0]))])
    columns = zip(*(rows[1:] if header else rows), strict=True)
    found = [_kind(column) for column in columns] or [kinds.TEXT] * len(names)
    fields = tuple(Field(name, kind) for name, kind in zip(names, found, strict=True))
    return FileFormat(Kind.EXCEL, fields, header=header, sheet=name, notes=notes)


def some(path: str, shape: FileFormat, limit: int) -> list[tuple[Value, ...]]:
    """Some rows from the beginning of the sheet."""
    with opened(path) as book:
        rows = islice(_rows(book, shape.sheet or sheets_of(book)[0]), int(shape.header), limit + int(shape.header))
        return [tuple(_value(cell) for cell in row) for _, row in rows]


def sheets(path: str) -> list[str]:
    """The names of the sheets that have cells."""
    with opened(path) as book:
        return sheets_of(book)


def texts(spark: SparkSession, files: list[str], shape: FileFormat) -> DataFrame:
    """The rows as records of JSON, each file read by itself."""
    return spread(spark, files).mapInArrow(_Reader(shape), SCHEMA)


def sheets_of(book: CalamineWorkbook) -> list[str]:
    """The names of its sheets, without those that are charts or programs."""
    found = [each.name for each in book.sheets_metadata if each.typ == SheetTypeEnum.WorkSheet]
    if not found:
        raise DataError("The workbook has no sheet with cells.", "Choose another file.")
    return found


@contextmanager
def opened(path: str) -> Iterator[CalamineWorkbook]:
    """A workbook, refused if it is too large, damaged or locked."""
    name = Path(path).name
    _refuse_large(path, name)
    try:
        with CalamineWorkbook.from_path(path) as book:
            yield book
    except PasswordError:
        raise DataError(f"{name} is locked by a password.", "Save it without one.") from None
    except WorksheetNotFound as error:
        raise NotFoundError(f"{name} has no such sheet: {error}.", "Choose one of those that it has.") from None
    except CalamineError as error:
        raise DataError(f"{name} is no workbook, or it is damaged.", "Open and save it in Excel.") from error


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads workbooks beside Spark."""

    shape: FileFormat

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for path in batch.column(0).to_pylist():
                try:
                    yield from self._of_file(path)
                except (DataError, NotFoundError) as error:
                    raise Told(error) from None

    def _of_file(self, path: str) -> Iterator[pa.RecordBatch]:
        with opened(path) as book:
            sheet = self.shape.sheet or sheets_of(book)[0]
            some: list[tuple[str, str]] = []
            for record, number in _records(book, sheet, self.shape):
                some.append((record, f"{Path(path).name}, {sheet}, row {number}"))
                if len(some) == _AT_ONCE:
                    yield batch_of(some)
                    some = []
            if some:
                yield batch_of(some)


def _records(book: CalamineWorkbook, sheet: str, shape: FileFormat) -> Iterator[tuple[str, int]]:
    rows = _rows(book, sheet)
    names: tuple[str, ...] = tuple(field.name for field in shape.fields)
    if shape.header:
        _, first = next(rows, (0, []))
        names, _ = distinct(_names(first))
    for number, row in rows:
        values = {name: _value(cell) for name, cell in zip(names, row, strict=False) if cell not in ("", None)}
        beyond = [_value(cell) for cell in row[len(names) :] if cell not in ("", None)]
        if beyond:
            values["beyond_the_fields"] = json.dumps(beyond)
        if values:
            yield json.dumps(values, ensure_ascii=False), number


def _rows(book: CalamineWorkbook, sheet: str) -> Iterator[tuple[int, list[Any]]]:
    """The rows with the numbers that people see, from the first one with a cell in it."""
    found = book.get_sheet_by_name(sheet)
    first = found.start[0] if found.start else 0
    # The library leaves out empty columns before the first cell, not empty rows.
    return ((number + 1, row) for number, row in enumerate(found.iter_rows()) if number >= first)


def _names(row: list[Any]) -> list[str]:
    return [str(cell).strip() for cell in row]


def _value(cell: Any) -> Value:  # noqa: ANN401 - whatever stands in a cell
    match cell:
        case "":
            return None
        case float() if cell.is_integer() and abs(cell) < _EXACT:
            return int(cell)
        case datetime() | date() | time():
            return cell.isoformat()
        case timedelta():
            return str(cell)
    found: Value = cell
    return found


def _kind(cells: Iterable[Any]) -> str:
    there = [cell for cell in cells if cell != ""]
    if there and all(isinstance(cell, date) for cell in there):
        return kinds.LOCAL if any(isinstance(cell, datetime) for cell in there) else kinds.DAY
    return kinds.of_values(_value(cell) for cell in there)


def _refuse_large(path: str, name: str) -> None:
    file = Path(path)
    if not file.is_file():
        raise NotFoundError(f"There is no file {name}.", "It may have been deleted; upload it again.")
    size = file.stat().st_size
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            unpacked = sum(each.file_size for each in packed.infolist())
    else:
        unpacked = size
    if size > MOST_BYTES or unpacked > MOST_UNPACKED:
        raise DataError(
            f"{name} is too large for a workbook: {size:,} bytes, {unpacked:,} unpacked.", "Save its sheets as CSV."
        )
