"""Previews of tables: their first rows, read by PyIceberg without Spark.

As few files are opened as give enough rows, and no more of each is read than is shown. Deleted rows do not appear,
whether their file has been rewritten or not. PyIceberg takes a second to import: that happens with the first preview.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum

import pyarrow as pa

from lakehold.kit.errors import InvalidInputError, UnavailableError
from lakehold.lake.iceberg_catalog import IcebergCatalog, TableIdentifier

MOST_ROWS = 100_000
_ROWS, _SIZE, _SCAN_LIMIT, _SECONDS = 100, 4 * 1024 * 1024, 2_000_000, 60


class FilterOperator(StrEnum):
    """Comparison operator of a filter."""

    IS = "="
    IS_NOT = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="
    STARTS = "starts with"
    EMPTY = "is empty"
    FILLED = "is not empty"


@dataclass(frozen=True, slots=True)
class PreviewFilter:
    """Condition on one field. A value given as text is parsed as the field's type."""

    field: str
    operator: FilterOperator
    value: str | float | Decimal | date | datetime | None = None


@dataclass(frozen=True, slots=True)
class PreviewOptions:
    """Options of a preview: which rows and fields, and how much it may cost."""

    rows: int = _ROWS
    fields: Sequence[str] | None = None
    """In this order. Without: all."""
    hidden: Collection[str] = ()
    """Fields that do not exist for the caller, by their folded names."""
    where: Sequence[PreviewFilter] = ()
    """Of several, all must hold."""
    size: int = _SIZE
    """Bytes in memory: rows that would make it more are left out."""
    scan_limit: int = _SCAN_LIMIT
    """How many rows are scanned before a filter with few matches gives up."""
    seconds: int = _SECONDS
    """For how long rows are scanned before it gives up."""


@dataclass(frozen=True, slots=True)
class TablePreview:
    """The first rows of a table."""

    rows: pa.Table
    more: bool
    """Whether there may be others."""


def read_preview(lake: IcebergCatalog, place: TableIdentifier, options: PreviewOptions | None = None) -> TablePreview:
    """Return the first rows of a table. The caller has been authorised before."""
    from lakehold.lake import scans  # noqa: PLC0415 - a second, of which a server's start needs nothing

    options = options or PreviewOptions()
    if not 0 <= options.rows <= MOST_ROWS or options.size < 0:
        raise InvalidInputError(f"A preview has at most {MOST_ROWS:,} rows.", "Run a query for more.")
    # Upkeep may take away what was valid a moment ago: then it is read as it is now.
    with suppress(FileNotFoundError):
        return scans.scan_table(lake.need_location(place), options)
    try:
        return scans.scan_table(lake.need_location(place), options)
    except FileNotFoundError as error:
        raise UnavailableError("Files of the table are missing.", "Ask an admin to check the storage.") from error
