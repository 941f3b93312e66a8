"""Histories: from a table that says how things are, one that says how they were (slowly changing, type 2).

Every row of the source becomes a version of its key, valid from a time until the next one or until it is gone. What
arrives late is put where it belongs, what is there already is not written twice, and each run is one snapshot. Runs of
one history go forward in time; the caller sees to it that there is one at a time.

A row that says what was known anyway leaves no trace. Hence a row that arrives late is taken as true until the next
version, even if the row of before was seen again in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import (
    BooleanType,
    DateType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from lakehold.kit.errors import InvalidInputError
from lakehold.pipeline.errors import DataError
from lakehold.pipeline.lake import Place
from lakehold.pipeline.quoting import quoted
from lakehold.pipeline.spark import arrivals
from lakehold.pipeline.spark.evolution import Evolution, fitted, refuse_twins
from lakehold.pipeline.spark.jvm import within
from lakehold.pipeline.spark.tables import Tables
from lakehold.pipeline.spark.versions import CURRENT, FROM, KEY, OWN, TO, Rule, column
from lakehold.pipeline.spark.writing import Written, told

_TIMES = (DateType, TimestampType, TimestampNTZType)
_MERGE = f"""
MERGE INTO {{place}} t USING changing s ON t.{KEY} = s.{KEY}
WHEN MATCHED AND s.{{gone}} THEN DELETE
WHEN MATCHED THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *
"""


@dataclass(frozen=True, slots=True)
class History:
    """How a history is kept."""

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


def keep(tables: Tables, source: DataFrame, place: Place, how: History, *, mark: str, moment: datetime) -> Written:
    """Take the source, as it is at the moment, into its history. The table is made if it is not there."""
    if moment.tzinfo is None:
        raise InvalidInputError("The moment of a history needs a time zone.", "Give it in UTC.")
    _refuse_misfits(source.schema, how)
    if not tables.exists(place):
        tables.create(place, _schema(source.schema), partitioned_by=[CURRENT])
    elif missing := set(OWN) - set(tables.schema(place).fieldNames()):
        raise DataError(
            f"The table is no history: it has no {', '.join(sorted(missing))}.",
            "Keep the history in a table of its own.",
        )
    if done := tables.now(place).made_by(mark):
        return told(done, again=True)
    rows = fitted(tables, place, _with_own(source, how, moment), Evolution.MERGE)
    with tables.marking(mark) as session:
        _keep(session, place, within(session, rows), how, moment)
    made = tables.now(place).made_by(mark)
    return Written(None) if made is None else told(made)


def _keep(session: SparkSession, place: Place, rows: DataFrame, how: History, moment: datetime) -> None:
    stored = session.table(place.sql)
    rule = _rule(stored.schema, how)
    with _held(arrivals.noticed(rows, stored, rule, moment if how.closes_missing else None)) as found:
        seen = arrivals.refuse_bad(found, rule, at=how.at, last_by=how.last_by)
        if seen.missing and not seen.arriving and not how.may_be_empty and rows.isEmpty():
            raise DataError(
                f"The source is empty, which would end all {seen.missing:,} rows of the history.",
                "Look why it is empty; if it is right, let the history accept an empty source.",
            )
        if not seen.missing and not seen.arriving:
            return
        with _held(arrivals.known(found, stored, rule)) as known:
            returning = how.closes_missing and how.at is not None
            changing = arrivals.changing(found, known, rule, moment, returning=returning)
            changing.createOrReplaceTempView("changing")
            session.sql(_MERGE.format(place=place.sql, gone=quoted(arrivals.GONE)))
            session.catalog.dropTempView("changing")


@contextmanager
def _held(rows: DataFrame) -> Iterator[DataFrame]:
    """Rows that are made once, however often they are looked at."""
    try:
        yield rows.persist()
    finally:
        rows.unpersist()


def _refuse_misfits(source: StructType, how: History) -> None:
    refuse_twins(source)
    there = {field.name.lower(): field for field in source.fields}
    if taken := [name for name in OWN if name in there]:
        raise DataError(f"The source has a field {taken[0]!r}, which every history has.", "Rename it in the source.")
    if not how.keys:
        raise InvalidInputError("A history needs a key.", "Name the fields that tell one row from another.")
    for name in (*how.keys, *filter(None, (how.at, how.last_by))):
        if name.lower() not in there:
            raise DataError(f"The source has no field {name!r}.", f"It has: {', '.join(source.fieldNames())}.")
    if how.at is None:
        return
    kind = there[how.at.lower()].dataType
    if not isinstance(kind, _TIMES):
        raise DataError(f"{how.at} is {kind.simpleString()}, and no time.", "Convert it to a date or a timestamp.")
    if how.at.lower() in {key.lower() for key in how.keys}:
        raise InvalidInputError(f"{how.at} cannot be key and time at once.", "Leave it out of the key.")


def _rule(schema: StructType, how: History) -> Rule:
    names = {field.name.lower(): field for field in schema.fields}
    aside = {name.lower() for name in (*OWN, *how.keys, *how.ignore, *filter(None, (how.at, how.last_by)))}
    wanted = names if how.track is None else [name.lower() for name in how.track]
    for name in (*wanted, *(name.lower() for name in how.ignore)):
        if name not in names:
            raise DataError(f"The history has no field {name!r}.", f"It has: {', '.join(schema.fieldNames())}.")
    tracked = [names[name] for name in wanted if how.track is not None or name not in aside]
    last_by = names[how.last_by.lower()].name if how.last_by else None
    return Rule([names[key.lower()].name for key in how.keys], tracked, last_by)


def _schema(source: StructType) -> StructType:
    times = [StructField(name, TimestampType()) for name in (FROM, TO)]
    return StructType([StructField(KEY, StringType()), *source.fields, *times, StructField(CURRENT, BooleanType())])


def _with_own(source: DataFrame, how: History, moment: datetime) -> DataFrame:
    since = arrivals.instant(moment) if how.at is None else column(how.at).cast("timestamp")
    return source.select(
        "*",
        f.lit(None).cast("string").alias(KEY),
        since.alias(FROM),
        f.lit(None).cast("timestamp").alias(TO),
        f.lit(True).alias(CURRENT),
    )
