"""Keeps the history of a table as a slowly changing dimension, type 2.

Every row of the source becomes a version of its key, valid from a time until the next one or until it is gone. Late
rows are inserted where they belong, rows that are stored already are not written twice, and each run is one snapshot.
Runs of one history go forward in time; the caller makes sure that only one runs at a time.

A row that repeats the known state leaves no trace. Hence a late row is taken as valid until the next version, even if
the earlier row was seen again in between.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as t

from lakehold.kit.errors import InvalidInputError
from lakehold.lake.errors import DataError
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.row_formats import quote_identifier
from lakehold.lake.spark import scd2
from lakehold.lake.spark.jvm import move_to_session
from lakehold.lake.spark.scd2 import CURRENT, FROM, KEY, OWN, TO, VersionRule, column
from lakehold.lake.spark.table_writer import (
    SchemaEvolution,
    TableWriteResult,
    conform_rows,
    refuse_duplicate_fields,
    write_once,
)
from lakehold.lake.spark.tables import Tables

_TIMES = (t.DateType, t.TimestampType, t.TimestampNTZType)
_MERGE = f"""
MERGE INTO {{place}} t USING changing s ON t.{KEY} = s.{KEY}
WHEN MATCHED AND s.{{gone}} THEN DELETE
WHEN MATCHED THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *
"""


@dataclass(frozen=True, slots=True)
class HistoryOptions:
    """Options of a history: keys, time, tracked fields."""

    keys: Sequence[str]
    """What tells one row from another."""
    at: str | None = None
    """The field that says when a row became true. Without one: when it was first seen. Without a zone it is UTC."""
    track: Sequence[str] | None = None
    """The fields whose change makes a version. Without: all but the keys, `at` and `last_by`."""
    ignore: Sequence[str] = ()
    """Fields whose change makes none. They are kept as they were when the version was made."""
    closes_missing: bool = True
    """Whether the source is full: what is not in it is gone."""
    last_by: str | None = None
    """Which of several rows with the same key and time counts: the one with the greatest value here."""
    may_be_empty: bool = False
    """Whether a full source without any row is believed, and ends everything."""


def update_history(
    tables: Tables, source: DataFrame, place: TableIdentifier, how: HistoryOptions, *, mark: str, moment: datetime
) -> TableWriteResult:
    """Merge the source, as it is at this moment, into its history. The table is created if it does not exist."""
    if moment.tzinfo is None:
        raise InvalidInputError("The moment of a history needs a time zone.", "Give it in UTC.")
    _refuse_invalid_options(source.schema, how)
    if not tables.exists(place):
        times, key = [t.StructField(name, t.TimestampType()) for name in (FROM, TO)], t.StructField(KEY, t.StringType())
        fields = [key, *source.schema.fields, *times, t.StructField(CURRENT, t.BooleanType())]
        tables.create(place, t.StructType(fields), partitioned_by=[CURRENT])
    elif missing := set(OWN) - set(tables.schema(place).fieldNames()):
        message = f"The table is not a history: it has no {', '.join(sorted(missing))}."
        raise DataError(message, "Keep the history in a table of its own.")

    def write(session: SparkSession) -> None:
        rows = conform_rows(tables, place, _with_history_fields(source, how, moment), SchemaEvolution.MERGE)
        _merge_changes(session, place, move_to_session(session, rows), how, moment)

    return write_once(tables, place, mark, write)


def _merge_changes(
    session: SparkSession, place: TableIdentifier, rows: DataFrame, how: HistoryOptions, moment: datetime
) -> None:
    stored = session.table(place.sql)
    rule = _rule(stored.schema, how)
    with _persisted(scd2.detect_changes(rows, stored, rule, moment if how.closes_missing else None)) as found:
        seen = scd2.refuse_invalid_rows(found, rule, at=how.at, last_by=how.last_by)
        if seen.missing and not seen.arriving and not how.may_be_empty and rows.isEmpty():
            message = f"The source is empty, which would end all {seen.missing:,} rows of the history."
            raise DataError(message, "Check the source; if that is right, let the history accept an empty source.")
        if not seen.missing and not seen.arriving:
            return
        with _persisted(scd2.affected_versions(found, stored, rule)) as known:
            returning = how.closes_missing and how.at is not None
            changing = scd2.build_changes(found, known, rule, moment, returning=returning)
            changing.createOrReplaceTempView("changing")
            session.sql(_MERGE.format(place=place.sql, gone=quote_identifier(scd2.GONE)))
            session.catalog.dropTempView("changing")


@contextmanager
def _persisted(rows: DataFrame) -> Iterator[DataFrame]:
    """Persist the rows while they are read several times."""
    try:
        yield rows.persist()
    finally:
        rows.unpersist()


def _refuse_invalid_options(source: t.StructType, how: HistoryOptions) -> None:
    refuse_duplicate_fields(source)
    there = {field.name.lower(): field for field in source.fields}
    if taken := [name for name in OWN if name in there]:
        raise DataError(f"The source has a field {taken[0]!r}, which every history has.", "Rename it in the source.")
    if not how.keys:
        raise InvalidInputError("A history needs a key.", "Name the key fields.")
    for name in (*how.keys, *filter(None, (how.at, how.last_by))):
        if name.lower() not in there:
            raise DataError(f"The source has no field {name!r}.", f"It has: {', '.join(source.fieldNames())}.")
    if how.at is None:
        return
    kind = there[how.at.lower()].dataType
    if not isinstance(kind, _TIMES):
        raise DataError(f"{how.at} is {kind.simpleString()}, not a time.", "Convert it to a date or a timestamp.")
    if how.at.lower() in {key.lower() for key in how.keys}:
        raise InvalidInputError(f"{how.at} cannot be key and time at once.", "Leave it out of the key.")


def _rule(schema: t.StructType, how: HistoryOptions) -> VersionRule:
    names = {field.name.lower(): field for field in schema.fields}
    aside = {name.lower() for name in (*OWN, *how.keys, *how.ignore, *filter(None, (how.at, how.last_by)))}
    tracked_names = names if how.track is None else [name.lower() for name in how.track]
    for name in (*tracked_names, *(name.lower() for name in how.ignore)):
        if name not in names:
            raise DataError(f"The history has no field {name!r}.", f"It has: {', '.join(schema.fieldNames())}.")
    tracked = [names[name] for name in tracked_names if how.track is not None or name not in aside]
    last_by = names[how.last_by.lower()].name if how.last_by else None
    return VersionRule([names[key.lower()].name for key in how.keys], tracked, last_by)


def _with_history_fields(source: DataFrame, how: HistoryOptions, moment: datetime) -> DataFrame:
    since = scd2.timestamp_literal(moment) if how.at is None else column(how.at).cast("timestamp")
    return source.select(
        "*",
        f.lit(None).cast("string").alias(KEY),
        since.alias(FROM),
        f.lit(None).cast("timestamp").alias(TO),
        f.lit(True).alias(CURRENT),
    )
