"""Separated values in a file's beginning: what separates them, and whether the first line has names."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence

from lakehold.pipeline.connectors.inward import kinds
from lakehold.pipeline.connectors.inward.reasons import reader
from lakehold.pipeline.errors import DataError

_DELIMITERS = (",", ";", "\t", "|")
_LINES = 500


def delimiter_of(text: str, quote: str, escape: str) -> str:
    """What most likely separates the values: what gives most lines the same number of values, and several."""
    return max(_DELIMITERS, key=lambda sign: _evenness(text, sign, quote, escape))


def quote_of(text: str) -> str:
    """The quote that the values have."""
    if '"' in text:
        return '"'
    signs = re.escape("".join(_DELIMITERS))
    single = re.findall(rf"(?:^|[{signs}])'[^'\n]*'(?=[{signs}]|$)", text, re.MULTILINE)
    return "'" if len(single) > 1 else '"'


def escape_of(text: str, quote: str) -> str:
    """What stands before a quote that is part of a value."""
    return "\\" if f"\\{quote}" in text and quote * 2 not in text else quote


def rows_of(text: str, delimiter: str, quote: str, escape: str, *, whole: bool) -> list[list[str]]:
    """The rows, without the last one if it is not there as a whole. Empty lines are none."""
    try:
        # Over single lines, so that a quote that is never closed does not swallow the rest for nothing.
        found = list(reader(text.splitlines(keepends=True), delimiter, quote, escape))
    except csv.Error as error:
        raise DataError(f"The values cannot be told apart: {error}.", "Check quote and delimiter.") from error
    rows = [row for row in found if row]
    return rows if whole else rows[:-1]


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row looks like names: it has some, and nothing that is a number, a time or true."""
    return any(rows[0]) and all(kinds.of_texts([value]) == kinds.TEXT for value in rows[0])


def width_of(rows: Sequence[Sequence[str]]) -> int:
    """How many values most rows have."""
    return Counter(len(row) for row in rows).most_common(1)[0][0]


def _evenness(text: str, sign: str, quote: str, escape: str) -> tuple[float, int]:
    lines = text.splitlines(keepends=True)[:_LINES]
    try:
        rows = [row for row in reader(lines, sign, quote, escape) if row]
    except csv.Error:
        return (0.0, 0)
    if not rows:
        return (0.0, 0)
    width, count = Counter(len(row) for row in rows).most_common(1)[0]
    return (count / len(rows) if width > 1 else 0.0, width)
