"""The first rows of a table, without Spark: a server shows them while somebody waits.

As few files are opened as give enough rows, and of each no more is read than is shown. Rows that have been deleted do
not show, whether their file has been written anew or not. What reads them, PyIceberg, takes a second to import: it is
done when the first rows are asked for, or before by `warm`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum

import pyarrow as pa

from lakehold.kit.errors import ConflictError, InvalidInputError, UnavailableError
from lakehold.pipeline import metadata
from lakehold.pipeline.lake import Lake, Place

MOST_ROWS = 100_000
_ROWS, _SIZE, _LOOKED_AT = 100, 4 * 1024 * 1024, 2_000_000


class Operator(StrEnum):
    """What a filter asks."""

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
class Filter:
    """A question to one field. The value may be given as text: it is read as the field's type."""

    field: str
    operator: Operator
    value: str | float | Decimal | date | datetime | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be shown, and what it may cost."""

    rows: int = _ROWS
    fields: Sequence[str] | None = None
    """In this order. Without: all."""
    snapshot: int | None = None
    """The table as it was then, with the fields of then. Without: as it is."""
    where: Filter | Sequence[Filter] = ()
    """Of several, all must hold."""
    size: int = _SIZE
    """Bytes in memory: rows that would make it more are left out."""
    looked_at: int = _LOOKED_AT
    """How many rows are looked at before a filter that matches few gives up."""

    @property
    def filters(self) -> Sequence[Filter]:
        """All of them."""
        return (self.where,) if isinstance(self.where, Filter) else self.where


@dataclass(frozen=True, slots=True)
class Preview:
    """Some rows."""

    rows: pa.Table
    more: bool
    """Whether there may be others."""


def preview(lake: Lake, place: Place, wanted: Wanted | None = None) -> Preview:
    """The first rows. Whether the asker may see them has been asked before."""
    from lakehold.pipeline import scans  # noqa: PLC0415 - a second, of which a server's start needs nothing

    wanted = wanted or Wanted()
    if not 0 <= wanted.rows <= MOST_ROWS or wanted.size < 0:
        raise InvalidInputError(f"A preview has at most {MOST_ROWS:,} rows.", "Run a query for more.")
    first = _location(lake, place)
    try:
        return scans.scanned(first, _refuse_unknown(first, wanted))
    except FileNotFoundError:
        # Upkeep may take away what was valid a moment ago.
        second = _location(lake, place)
    try:
        return scans.scanned(second, _refuse_unknown(second, wanted))
    except FileNotFoundError as error:
        raise UnavailableError("Files of the table are missing.", "Ask an administrator to look after it.") from error


def warm() -> None:
    """Import what previews need."""
    from lakehold.pipeline import scans  # noqa: F401, PLC0415 - as above


def _location(lake: Lake, place: Place) -> str:
    found = lake.metadata_of(place)
    if found is None:
        raise ConflictError("The table has no data yet.", "Run what fills it.")
    return found


def _refuse_unknown(location: str, wanted: Wanted) -> Wanted:
    if wanted.snapshot is not None:
        metadata.read(location).snapshot(wanted.snapshot)
    return wanted
