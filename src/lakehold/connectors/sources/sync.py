"""Syncs a stream into a table, once for each mark: repeated after a crash, it leaves the table as if it ran once."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from pyspark import StorageLevel
from pyspark.sql import functions as f

from lakehold.connectors.error_translation import translate_source_errors
from lakehold.connectors.settings import SyncMode
from lakehold.connectors.sources.source import IncomingRows, ReadSpan, SourceConnector, filter_span, highest_cursor
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import fold_name
from lakehold.lake.errors import DataError
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.spark import table_writer
from lakehold.lake.spark.local_rows import empty_rows
from lakehold.lake.spark.table_writer import TableWriteOptions, TableWriteResult, WriteMode
from lakehold.lake.spark.tables import Tables
from lakehold.lake.table_metadata import IcebergSnapshot

_EXAMPLES = 3


class BadRowTable(Protocol):
    """The table that bad rows are appended to, created with the first of them."""

    def find(self) -> TableIdentifier | None:
        """Return its identifier if it exists."""

    def make(self) -> TableIdentifier:
        """Return its identifier, creating the table if it does not exist."""


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """Options of a sync."""

    mode: SyncMode
    keys: tuple[str, ...] = ()
    cursor: str = ""
    """The field that only grows."""
    since: str | None = None
    """How far it was read before: the cursor of the last sync. None reads all."""
    bad: BadRowTable | None = None
    """Where bad rows are kept."""
    max_bad: int | None = None
    """How many bad rows are let pass. None: any number if they are kept, otherwise none. To mirror, none."""
    allow_empty: bool = False
    """Whether a source without a row may empty a table that has some."""
    evolution: table_writer.SchemaEvolution = table_writer.SchemaEvolution.MERGE
    partitioned_by: Sequence[str] = ()
    span: ReadSpan | None = None
    """A part that is read again, whatever was read before; without keys it takes the place of what is there."""


@dataclass(frozen=True, slots=True)
class SyncResult:
    """The result of a sync."""

    written: TableWriteResult
    bad: int
    """How many rows were kept aside."""
    cursor: str | None
    """How far the stream is read now: `since` of the next sync."""
    notes: tuple[str, ...] = ()
    fields: frozenset[str] = frozenset()
    """The folded names of the fields that arrived; none if an earlier attempt had written them."""


def sync_stream(  # noqa: PLR0917 - as they are said
    tables: Tables, place: TableIdentifier, connector: SourceConnector, stream: str, how: SyncOptions, mark: str
) -> SyncResult:
    """Read a stream and write it into a table."""
    _refuse_invalid_options(how)
    done = _snapshot_of_write(tables, place, mark)
    if done and (how.bad is None or _snapshot_of_write(tables, how.bad.find(), mark)):
        return _previous_result(tables, place, how, mark)
    with (
        _open_stream(tables, connector, stream, how) as incoming,
        translate_source_errors(stream, *connector.redactions),
    ):
        if not incoming.rows.columns:
            return SyncResult(TableWriteResult(None), 0, how.since, incoming.notes)
        if not done:
            _refuse_bad_rows(incoming, how)
            _refuse_empty(tables, place, incoming, how)
        rows = table_writer.apply_types_if_empty(tables, place, incoming.rows)
        written = table_writer.write_rows(tables, place, rows, _write_options(how, mark))
        bad = _store_bad_rows(tables, incoming, written, how, mark)
        cursor, arrived = _new_cursor(tables, place, written, how), frozenset(map(fold_name, rows.columns))
        return SyncResult(written, bad, cursor, incoming.notes, arrived)


def current_cursor(tables: Tables, place: TableIdentifier, cursor: str, mark: str) -> str | None:
    """Return the highest cursor in the table itself, so that a rolled back table is filled again from there."""
    if not cursor or not tables.exists(place):
        return None
    # What this very step has written before it was broken off is no reason to read less than it had begun to.
    rows = tables.read_before_write(place, mark)
    return highest_cursor(rows, cursor) if rows is not None and cursor in rows.columns else None


def _previous_result(tables: Tables, place: TableIdentifier, how: SyncOptions, mark: str) -> SyncResult:
    """Return the result of the earlier sync, without reading the source again."""
    nothing = empty_rows(tables.session, tables.schema(place))
    written = table_writer.write_rows(tables, place, nothing, _write_options(how, mark))
    kept = _snapshot_of_write(tables, how.bad.find(), mark) if how.bad else None
    return SyncResult(written, kept.count("added-records") if kept else 0, _new_cursor(tables, place, written, how))


def _refuse_invalid_options(how: SyncOptions) -> None:
    if how.mode is SyncMode.INCREMENTAL and not how.cursor:
        hint = "Name a field whose values only increase."
        raise InvalidInputError("Incremental loading needs a cursor.", hint, field="cursor")
    if how.mode in {SyncMode.MERGE, SyncMode.MIRROR} and not how.keys:
        hint = "Name the key fields."
        raise InvalidInputError("To merge, the stream needs a key.", hint, field="keys")


@contextmanager
def _open_stream(tables: Tables, connector: SourceConnector, stream: str, how: SyncOptions) -> Iterator[IncomingRows]:
    """Read the stream, cached on disk if its rows are needed several times."""
    since = how.span
    if since is None and how.mode is SyncMode.INCREMENTAL and how.since is not None:
        since = ReadSpan(how.cursor, how.since, including=bool(how.keys))
    found = connector.read(tables.session, stream, since)
    try:
        if _write_mode(how) in {WriteMode.MERGE, WriteMode.MIRROR}:
            rows = found.rows.persist(StorageLevel.DISK_ONLY)
            found = replace(found, rows=rows, kept=(*found.kept, rows))
        if found.bad is not None:
            bad = found.bad.persist(StorageLevel.DISK_ONLY)
            found = replace(found, bad=bad, kept=(*found.kept, bad))
        yield found
    finally:
        found.close()


def _write_mode(how: SyncOptions) -> WriteMode:
    match how.mode:
        case SyncMode.FULL:
            return WriteMode.OVERWRITE
        case SyncMode.INCREMENTAL:
            return WriteMode.MERGE if how.keys else WriteMode.APPEND
        case _:
            return WriteMode(how.mode.value)


def _write_options(how: SyncOptions, mark: str) -> TableWriteOptions:
    span = how.span
    part = None if span is None or how.keys else table_writer.ValueSpan(span.field, span.value, span.until)
    return TableWriteOptions(_write_mode(how), mark, how.keys, how.evolution, how.partitioned_by, part)


def _snapshot_of_write(tables: Tables, place: TableIdentifier | None, mark: str) -> IcebergSnapshot | None:
    now = tables.lake.current_metadata(place) if place else None
    return now.snapshot_of_write(mark) if now else None


def _refuse_bad_rows(incoming: IncomingRows, how: SyncOptions) -> None:
    """Refuse more bad rows than allowed, before anything is written."""
    most = how.max_bad
    if most is None and (how.bad is None or how.mode is SyncMode.MIRROR):
        most = 0
    if incoming.bad is None or most is None or (count := incoming.bad.count()) <= most:
        return
    some = "; ".join(f"{row['place']}: {row['reason']}" for row in incoming.bad.limit(_EXAMPLES).collect())
    hint = "Correct them at the source, change how they are read, or allow more of them."
    if how.mode is SyncMode.MIRROR:
        hint = "A row that cannot be read would count as deleted. Correct them at the source, or merge."
    raise DataError(f"{count:,} rows cannot be read, and {most:,} are allowed. {some}", hint, foreign=some)


def _refuse_empty(tables: Tables, place: TableIdentifier, incoming: IncomingRows, how: SyncOptions) -> None:
    """Refuse to empty a table, as an empty result is more often a fault of the source than intended."""
    now = tables.lake.current_metadata(place)
    there = now.current.count("total-records") if now and now.current else 0
    if how.allow_empty or not there or how.mode not in {SyncMode.FULL, SyncMode.MIRROR}:
        return
    if not incoming.rows.limit(1).count():
        message = f"The source has no rows, and the table has {there:,}: nothing was changed."
        raise DataError(message, "Check the source; if the table is to be empty, allow that.")


def _store_bad_rows(
    tables: Tables, incoming: IncomingRows, written: TableWriteResult, how: SyncOptions, mark: str
) -> int:
    """Write bad rows into their own table, and count them."""
    if incoming.bad is None:
        return 0
    all_added = not written.again and _write_mode(how) in {WriteMode.APPEND, WriteMode.OVERWRITE}
    # What is known to be all good is not read again to find what is bad in it.
    if all_added and incoming.total and incoming.total() == written.added:
        return 0
    count = incoming.bad.count()
    if count and how.bad is not None:
        marked = incoming.bad.withColumn("mark", f.lit(mark))
        table_writer.write_rows(tables, how.bad.make(), marked, TableWriteOptions(WriteMode.APPEND, mark))
    return count


def _new_cursor(tables: Tables, place: TableIdentifier, written: TableWriteResult, how: SyncOptions) -> str | None:
    """Return the highest cursor that was written, whatever the source has by now."""
    if not how.cursor or how.span is not None:
        return None
    if written.snapshot is None:
        return how.since
    rows = tables.read(place, snapshot=written.snapshot)
    since = None if how.since is None else ReadSpan(how.cursor, how.since)
    return highest_cursor(filter_span(rows, since), how.cursor) or how.since
