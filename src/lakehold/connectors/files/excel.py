"""Reads the rows of a sheet of an Excel workbook.

The reading library holds the cells of one sheet in memory at a time, in the Python process that reads the file: a
million cells took 73 MiB, some 80 bytes each. So a workbook is refused that is larger than `MAX_BYTES` as a file or
`MAX_UNPACKED` unpacked, which is room for some 14 million cells and 1 GiB. Its rows go on to Spark in small batches. A
formula is read as the value that was saved with it, and one that failed as empty.
"""

import json
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetTypeEnum, WorksheetNotFound

from lakehold.connectors.files.json_array import PlacedRecord
from lakehold.connectors.files.settings import FileFormat, FileKind
from lakehold.connectors.sources import field_types
from lakehold.connectors.sources.field_types import StreamField, distinct_names
from lakehold.connectors.sources.source import Value
from lakehold.kit.errors import NotFoundError
from lakehold.lake.errors import DataError

MAX_BYTES = 100 * 1024 * 1024
MAX_UNPACKED = 512 * 1024 * 1024
_SAMPLE_ROWS = 1_000
_EXACT = 2**53


def detect_sheet_format(path: str, sheet: str = "") -> FileFormat:
    """Return the format of a sheet."""
    with open_workbook(path) as book:
        name = sheet or sheet_names(book)[0]
        rows = [row for _, row in islice(_numbered_rows(book, name), _SAMPLE_ROWS)]
    if not rows:
        return FileFormat(FileKind.EXCEL, sheet=name, notes=(f"The sheet {name} is empty.",))
    header = all(isinstance(cell, str) for cell in rows[0]) and any(rows[0])
    names, notes = distinct_names(_names(rows[0]) if header else [f"column_{n + 1}" for n in range(len(rows[0]))])
    columns = zip(*(rows[1:] if header else rows), strict=True)
    found = [_column_type(column) for column in columns] or [field_types.STRING] * len(names)
    return FileFormat(FileKind.EXCEL, tuple(map(StreamField, names, found)), header=header, sheet=name, notes=notes)


def sample_rows(path: str, shape: FileFormat, limit: int) -> list[tuple[Value, ...]]:
    """Return the first rows of a sheet."""
    with open_workbook(path) as book:
        rows, first = _numbered_rows(book, shape.sheet or sheet_names(book)[0]), int(shape.header)
        return [tuple(map(_cell_value, row)) for _, row in islice(rows, first, first + limit)]


def list_sheets(path: str) -> list[str]:
    """Return the names of the sheets that have cells."""
    with open_workbook(path) as book:
        return sheet_names(book)


def sheet_names(book: CalamineWorkbook) -> list[str]:
    """Return the names of a workbook's sheets, without charts and macros."""
    found = [each.name for each in book.sheets_metadata if each.typ == SheetTypeEnum.WorkSheet]
    if not found:
        raise DataError("The workbook has no sheet with cells.", "Choose another file.")
    return found


@contextmanager
def open_workbook(path: str) -> Iterator[CalamineWorkbook]:
    """Open a workbook; refuse one that is too large, damaged or locked."""
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
        raise DataError(f"{name} is not a workbook, or is damaged.", "Open and save it in Excel.") from error


def read_file(path: str, shape: FileFormat) -> Iterator[PlacedRecord]:
    """Yield the rows of a workbook as JSON records."""
    with open_workbook(path) as book:
        sheet = shape.sheet or sheet_names(book)[0]
        rows = _numbered_rows(book, sheet)
        names: tuple[str, ...] = tuple(field.name for field in shape.fields)
        if shape.header:
            _, first = next(rows, (0, []))
            names, _ = distinct_names(_names(first))
        for number, row in rows:
            values = {name: _cell_value(cell) for name, cell in zip(names, row, strict=False) if cell not in ("", None)}
            beyond = [_cell_value(cell) for cell in row[len(names) :] if cell not in ("", None)]
            if beyond:
                values["beyond_the_fields"] = json.dumps(beyond)
            if values:
                yield json.dumps(values, ensure_ascii=False), f"{Path(path).name}, {sheet}, row {number}"


def _numbered_rows(book: CalamineWorkbook, sheet: str) -> Iterator[tuple[int, list[Any]]]:
    """Yield the rows with the numbers that Excel shows, from the first one with a cell in it."""
    found = book.get_sheet_by_name(sheet)
    first = found.start[0] if found.start else 0
    # The library leaves out empty columns before the first cell, not empty rows.
    return ((number + 1, row) for number, row in enumerate(found.iter_rows()) if number >= first)


def _names(row: list[Any]) -> list[str]:
    return [str(cell).strip() for cell in row]


def _cell_value(cell: Any) -> Value:  # noqa: ANN401 - whatever stands in a cell
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


def _column_type(cells: Iterable[Any]) -> str:
    there = [cell for cell in cells if cell != ""]
    if there and all(isinstance(cell, date) for cell in there):
        return field_types.TIMESTAMP_NTZ if any(isinstance(cell, datetime) for cell in there) else field_types.DATE
    return field_types.infer_from_json(_cell_value(cell) for cell in there)


def _refuse_large(path: str, name: str) -> None:
    file = Path(path)
    if not file.is_file():
        raise NotFoundError(f"There is no file {name}.", "It may have been deleted; upload it again.")
    size = unpacked = file.stat().st_size
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            unpacked = sum(each.file_size for each in packed.infolist())
    if size > MAX_BYTES or unpacked > MAX_UNPACKED:
        message = f"{name} is too large for a workbook: {size:,} bytes, {unpacked:,} unpacked."
        raise DataError(message, "Save its sheets as CSV.")
