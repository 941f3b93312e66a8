"""A stream into a table, once for each mark: begun again after a crash, it leaves the table as if it ran once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from pyspark import StorageLevel
from pyspark.sql import functions as f

from lakehold.kit.errors import InvalidInputError
from lakehold.pipeline.connectors.inward import cursors
from lakehold.pipeline.connectors.inward.connector import Connector, Incoming, Since
from lakehold.pipeline.connectors.inward.trouble import told
from lakehold.pipeline.errors import DataError
from lakehold.pipeline.lake import Place
from lakehold.pipeline.metadata import Snapshot
from lakehold.pipeline.spark.evolution import Evolution, typed_if_empty
from lakehold.pipeline.spark.spans import Within
from lakehold.pipeline.spark.tables import Tables
from lakehold.pipeline.spark.writing import Mode, Write, Written, write

_SHOWN = 3


class SyncMode(StrEnum):
    """What becomes of the rows that are in the table, and which ones are read."""

    FULL = "full"
    """All are read and replace what is there."""
    APPEND = "append"
    """All are read and added."""
    MERGE = "merge"
    """All are read; those with the same key are replaced."""
    MIRROR = "mirror"
    """The same, and those whose key does not arrive go."""
    INCREMENTAL = "incremental"
    """Only what comes after the cursor is read; with keys it is merged, without it is added."""


class Aside(Protocol):
    """The table that bad rows are added to, made when there are the first."""

    def find(self) -> Place | None:
        """Where it lies, if it is there."""

    def make(self) -> Place:
        """Where it lies, made if it is not there."""


@dataclass(frozen=True, slots=True)
class AsideAt:
    """One whose place is known."""

    place: Place

    def find(self) -> Place:
        """There."""
        return self.place

    def make(self) -> Place:
        """There."""
        return self.place


@dataclass(frozen=True, slots=True)
class SyncHow:
    """How a stream goes into a table."""

    mode: SyncMode
    keys: tuple[str, ...] = ()
    cursor: str = ""
    """The field that only grows."""
    since: str | None = None
    """How far it was read before: the cursor of the last sync. None reads all."""
    bad: Aside | None = None
    """Where bad rows are kept."""
    most_bad: int | None = None
    """How many bad rows are let pass. None: any number if they are kept, otherwise none. To mirror, none."""
    allow_empty: bool = False
    """Whether a source without a row may empty a table that has some."""
    evolution: Evolution = Evolution.MERGE
    partitioned_by: Sequence[str] = ()
    span: Since | None = None
    """A part that is read again, whatever was read before; without keys it takes the place of what is there."""


@dataclass(frozen=True, slots=True)
class Synced:
    """What a sync did."""

    written: Written
    bad: int
    """How many rows were kept aside."""
    cursor: str | None
    """How far the stream is read now: `since` of the next sync."""
    notes: tuple[str, ...] = ()


def sync(tables: Tables, place: Place, connector: Connector, stream: str, how: SyncHow, mark: str) -> Synced:  # noqa: PLR0917 - as they are said
    """Read the stream and write it."""
    _refuse(how)
    done = _made(tables, place, mark)
    if done and (how.bad is None or _kept(tables, how.bad, mark)):
        return _again(tables, place, how, mark)
    with _reading(tables, connector, stream, how) as incoming, told(stream, *connector.veil):
        if not incoming.rows.columns:
            return Synced(Written(None), 0, how.since, incoming.notes)
        if not done:
            _refuse_bad(incoming, how)
            _refuse_empty(tables, place, incoming, how)
        written = write(tables, place, typed_if_empty(tables, place, incoming.rows), _write(how, mark))
        bad = _keep(tables, incoming, written, how, mark)
        return Synced(written, bad, _cursor(tables, place, written, how), incoming.notes)


def reached(tables: Tables, place: Place, cursor: str, mark: str) -> str | None:
    """How far the table goes. The table itself says it: rolled back, it is filled again from there."""
    if not cursor or not tables.exists(place):
        return None
    # What this very step has written before it was broken off is no reason to read less than it had begun to.
    rows = tables.before(place, mark)
    return cursors.highest(rows, cursor) if rows is not None and cursor in rows.columns else None


def _again(tables: Tables, place: Place, how: SyncHow, mark: str) -> Synced:
    """What was done before: the source is not asked again."""
    nothing = tables.session.createDataFrame([], tables.schema(place))
    written = write(tables, place, nothing, _write(how, mark))
    kept = _kept(tables, how.bad, mark) if how.bad else None
    return Synced(written, kept.count("added-records") if kept else 0, _cursor(tables, place, written, how))


def _refuse(how: SyncHow) -> None:
    if how.mode is SyncMode.INCREMENTAL and not how.cursor:
        raise InvalidInputError("To read only what is new, a cursor is needed.", "Name a field that only grows.")
    if how.mode in {SyncMode.MERGE, SyncMode.MIRROR} and not how.keys:
        raise InvalidInputError("To merge, the stream needs a key.", "Name the fields that tell one row from another.")


@contextmanager
def _reading(tables: Tables, connector: Connector, stream: str, how: SyncHow) -> Iterator[Incoming]:
    """What is read; a source whose rows are looked at several times is asked once."""
    since = how.span
    if since is None and how.mode is SyncMode.INCREMENTAL and how.since is not None:
        since = Since(how.cursor, how.since, including=bool(how.keys))
    found = connector.read(tables.session, stream, since)
    try:
        if _mode(how) in {Mode.MERGE, Mode.MIRROR}:
            rows = found.rows.persist(StorageLevel.DISK_ONLY)
            found = replace(found, rows=rows, kept=(*found.kept, rows))
        if found.bad is not None:
            bad = found.bad.persist(StorageLevel.DISK_ONLY)
            found = replace(found, bad=bad, kept=(*found.kept, bad))
        yield found
    finally:
        found.close()


def _mode(how: SyncHow) -> Mode:
    match how.mode:
        case SyncMode.FULL:
            return Mode.OVERWRITE
        case SyncMode.INCREMENTAL:
            return Mode.MERGE if how.keys else Mode.APPEND
        case _:
            return Mode(how.mode.value)


def _write(how: SyncHow, mark: str) -> Write:
    span = how.span
    part = None if span is None or how.keys else Within(span.field, span.value, span.until)
    return Write(_mode(how), mark, how.keys, how.evolution, how.partitioned_by, part)


def _made(tables: Tables, place: Place, mark: str) -> Snapshot | None:
    now = tables.lake.now(place)
    return now.made_by(mark) if now else None


def _kept(tables: Tables, aside: Aside, mark: str) -> Snapshot | None:
    place = aside.find()
    return _made(tables, place, mark) if place else None


def _refuse_bad(incoming: Incoming, how: SyncHow) -> None:
    """Before anything is written: more bad rows than are let pass."""
    most = how.most_bad
    if most is None and (how.bad is None or how.mode is SyncMode.MIRROR):
        most = 0
    if incoming.bad is None or most is None or (count := incoming.bad.count()) <= most:
        return
    some = "; ".join(f"{row['place']}: {row['reason']}" for row in incoming.bad.limit(_SHOWN).collect())
    hint = "Correct them at the source, change how they are read, or let more of them pass."
    if how.mode is SyncMode.MIRROR:
        hint = "A row that cannot be read would be taken for one that is gone. Correct them at the source, or merge."
    raise DataError(f"{count:,} rows cannot be read and {most:,} are let pass. {some}", hint)


def _refuse_empty(tables: Tables, place: Place, incoming: Incoming, how: SyncHow) -> None:
    """An empty answer is more often a fault of the source than the wish to lose a table."""
    now = tables.lake.now(place)
    there = now.current.count("total-records") if now and now.current else 0
    if how.allow_empty or not there or how.mode not in {SyncMode.FULL, SyncMode.MIRROR}:
        return
    if not incoming.rows.limit(1).count():
        raise DataError(
            f"The source has no rows, and the table has {there:,}: nothing was changed.",
            "Check the source; if the table is to be empty, allow that.",
        )


def _keep(tables: Tables, incoming: Incoming, written: Written, how: SyncHow, mark: str) -> int:
    """Write bad rows into their own table, and count them."""
    if incoming.bad is None:
        return 0
    counted = incoming.total if not written.again and _mode(how) in {Mode.APPEND, Mode.OVERWRITE} else None
    # What is known to be all good is not read again to find what is bad in it.
    if counted is not None and counted() == written.added:
        return 0
    count = incoming.bad.count()
    if count and how.bad is not None:
        write(tables, how.bad.make(), incoming.bad.withColumn("mark", f.lit(mark)), Write(Mode.APPEND, mark))
    return count


def _cursor(tables: Tables, place: Place, written: Written, how: SyncHow) -> str | None:
    """How far the table goes: what was written counts, not what the source may have by now."""
    if not how.cursor or how.span is not None:
        return None
    if written.snapshot is None:
        return how.since
    rows = tables.read(place, snapshot=written.snapshot)
    since = None if how.since is None else Since(how.cursor, how.since)
    return cursors.highest(cursors.after(rows, since), how.cursor) or how.since
