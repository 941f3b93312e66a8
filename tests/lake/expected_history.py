"""A reference implementation of histories, one key at a time, to compare Spark's result with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lakehold.lake.spark.history import HistoryOptions


class SourceRow(NamedTuple):
    """A row of a source, with a note that is not compared and a rank among several."""

    since: int
    name: str | None
    note: int
    rank: int


class HistoryVersion(NamedTuple):
    """A version of a row."""

    row: SourceRow
    start: int
    end: int | None


def expected_versions(
    known: Sequence[HistoryVersion], arriving: Sequence[SourceRow], how: HistoryOptions, moment: int
) -> list[HistoryVersion]:
    """Return the versions of one key."""
    rows = {row.since if how.at else moment: row for row in sorted(arriving, key=lambda row: row.rank)}
    if not rows:
        return [_close_version(each, how, moment) for each in known]
    facts: dict[int, SourceRow | None] = {}
    for each, following in zip(known, [*known[1:], None], strict=False):
        facts[each.start] = each.row
        if each.end is not None and (following is None or following.start > each.end):
            facts[each.end] = None
    ended = max((each.end for each in known if each.end is not None), default=None)
    is_open = any(each.end is None for each in known)
    if how.closes_missing and how.at and not is_open and ended is not None and max(rows) < ended <= moment:
        rows[moment] = rows[max(rows)]
    for start, row in rows.items():
        there = facts.get(start)
        if there is None or (there.name != row.name and there.rank <= row.rank):
            facts[start] = row
    return _build_versions(facts)


def _close_version(each: HistoryVersion, how: HistoryOptions, moment: int) -> HistoryVersion:
    return each._replace(end=moment) if how.closes_missing and each.end is None and each.start < moment else each


def _build_versions(facts: dict[int, SourceRow | None]) -> list[HistoryVersion]:
    kept: list[tuple[int, SourceRow | None]] = [(-1, None)]
    for start, row in sorted(facts.items()):
        before = kept[-1][1]
        if not (before is row is None or (before and row and before.name == row.name)):
            kept.append((start, row))
    ends = [start for start, _ in kept[1:]]
    return [HistoryVersion(row, start, end) for (start, row), end in zip(kept, [*ends, None], strict=True) if row]
