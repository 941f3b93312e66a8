"""Computes slowly changing dimensions, type 2: which incoming rows are new, and which versions they create or end.

Most rows of a full source are known already. They are recognised by one join with the current versions; older versions
are read only for the others.

Versions are computed from events: a stored version, an incoming row, an end (the row was gone from then on). Of several
events at one time one counts; an incoming row that repeats the valid state is dropped; each version lasts until the
next event.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from functools import reduce

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as f
from pyspark.sql.types import DataType, MapType, StructField

from lakehold.lake.errors import DataError
from lakehold.lake.row_formats import quote_identifier

KEY, FROM, TO, CURRENT = "surrogate_key", "valid_from", "valid_to", "is_current"
OWN = (KEY, FROM, TO, CURRENT)
"""The fields that a history has beside those of its source."""
KIND = "lakehold:kind"
_IS_NEWS, _BEFORE, _EVENT_NUMBER = "lakehold:news", "lakehold:before", "lakehold:number"
_STATE_BEFORE, _STATE_THERE = "lakehold:was", "lakehold:there"


class EventKind(IntEnum):
    """Kind of an event in a key's history."""

    END = 0
    KNOWN = 1
    ARRIVING = 2


@dataclass(frozen=True, slots=True)
class VersionRule:
    """Defines which rows are versions of one key, and when two of them differ."""

    keys: Sequence[str]
    tracked: Sequence[StructField]
    last_by: str | None = None

    @property
    def key(self) -> list[Column]:
        """The key columns."""
        return [column(name) for name in self.keys]

    def state(self, within: str = "") -> Column:
        """Return the compared fields as one value, of the row itself or of a struct column in it."""
        parts = (_comparable(field, within).alias(f"f{index}") for index, field in enumerate(self.tracked))
        return f.struct(*parts) if self.tracked else f.struct(f.lit(1).alias("f0"))

    def surrogate(self) -> Column:
        """Return a surrogate key that is the same for the same key and time."""
        # Sorted, since the order in which somebody names the keys means nothing.
        parts = (column(name).cast("string") for name in sorted(self.keys, key=str.lower))
        text = f.to_json(f.array(*parts, f.unix_micros(FROM).cast("string")))
        return f.substring(f.sha2(text, 256), 1, 32)


def column(name: str) -> Column:
    """Return the column of exactly this name."""
    return f.col(quote_identifier(name))


def end_events(known: DataFrame, rule: VersionRule) -> DataFrame:
    """Return the end events of stored versions that were not ended by a next version."""
    following = f.lead(FROM).over(Window.partitionBy(*rule.key).orderBy(FROM))
    found = known.withColumn(_BEFORE, following).filter(
        column(TO).isNotNull() & (column(_BEFORE).isNull() | (column(_BEFORE) > column(TO)))
    )
    return as_events(found.drop(_BEFORE).withColumn(FROM, column(TO)), EventKind.END)


def as_events(rows: DataFrame, kind: EventKind) -> DataFrame:
    """Return rows as events of this kind."""
    return rows.withColumn(KIND, f.lit(int(kind))).withColumn(_IS_NEWS, f.lit(True))


def version_events(known: DataFrame, rule: VersionRule) -> DataFrame:
    """Return stored versions as events. Adjacent ones may be equal in all fields that are still compared."""
    time = Window.partitionBy(*rule.key).orderBy(FROM)
    same = f.lag(rule.state()).over(time).eqNullSafe(rule.state()) & f.lag(TO).over(time).eqNullSafe(column(FROM))
    return as_events(known, EventKind.KNOWN).withColumn(_IS_NEWS, ~same)


def build_versions(events: DataFrame, rule: VersionRule) -> DataFrame:
    """Return the versions that the events result in."""
    kind, before = column(KIND), column(_BEFORE)
    time = Window.partitionBy(*rule.key).orderBy(FROM)
    after = (
        _resolve_ties(events, rule)
        .withColumn(_BEFORE, f.coalesce(f.lag(KIND).over(time), f.lit(int(EventKind.END))))
        .withColumn(_STATE_BEFORE, f.lag(rule.state()).over(time))
    )
    # Nothing new: the same as before, or the end of what was not. A version that was there for a reason that is no
    # longer compared stays.
    repeated = (
        (kind != EventKind.END)
        & (before != EventKind.END)
        & rule.state().eqNullSafe(column(_STATE_BEFORE))
        & column(_IS_NEWS)
    )
    kept = after.filter(~repeated & ~((kind == EventKind.END) & (before == EventKind.END))).drop(
        _BEFORE, _STATE_BEFORE, _IS_NEWS
    )
    return (
        kept.withColumn(TO, f.lead(FROM).over(time))
        .filter(kind != EventKind.END)
        .withColumn(CURRENT, column(TO).isNull())
        .withColumn(KEY, f.when(kind == EventKind.KNOWN, column(KEY)).otherwise(rule.surrogate()))
    )


def _resolve_ties(events: DataFrame, rule: VersionRule) -> DataFrame:
    """Keep one event for each time: a version before an end, the last one, an incoming row before a stored one."""
    kind = column(KIND)
    time = Window.partitionBy(*rule.key, column(FROM))
    there = f.max(f.when(kind == EventKind.KNOWN, rule.state())).over(time)
    last = [column(rule.last_by).desc_nulls_last()] if rule.last_by else []
    rank = f.row_number().over(time.orderBy((kind == EventKind.END), *last, kind.desc()))
    # What arrives as it is there is not written anew.
    known = (
        (kind == EventKind.ARRIVING) & column(_STATE_THERE).isNotNull() & rule.state().eqNullSafe(column(_STATE_THERE))
    )
    new = events.withColumn(_STATE_THERE, there).filter(~known)
    return new.drop(_STATE_THERE).withColumn(_EVENT_NUMBER, rank).filter(column(_EVENT_NUMBER) == 1).drop(_EVENT_NUMBER)


def _comparable(field: StructField, within: str) -> Column:
    """Return the field's value, or a text for types that Spark cannot compare."""
    value = f.col(f"{quote_identifier(within)}.{quote_identifier(field.name)}") if within else column(field.name)
    if isinstance(field.dataType, MapType) and not _incomparable(field.dataType.valueType):
        return f.array_sort(f.map_entries(value))
    return f.to_json(f.struct(value.alias("value")), {"ignoreNullFields": "false"}) if _incomparable(field) else value


def _incomparable(kind: DataType | StructField) -> bool:
    return any(word in kind.simpleString() for word in ("map<", "variant"))


GONE = "lakehold:gone"
_NOW, _HERE, _TWICE, _HAS_NEWS, _NEEDS_PAST, _FIRST = (
    f"lakehold:{word}" for word in ("now", "here", "twice", "loud", "deep", "first")
)
_LAST, _UNTIL, _NUMBER = "lakehold:last", "lakehold:until", "lakehold:number"


def timestamp_literal(moment: datetime) -> Column:
    """Return a moment as a Spark literal, to the microsecond."""
    return f.timestamp_micros(f.lit((moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)))


def detect_changes(rows: DataFrame, stored: DataFrame, rule: VersionRule, gone_at: datetime | None) -> DataFrame:
    """Return the rows of keys with any change, each with its current version; and the missing keys, if requested."""
    now = stored.filter(CURRENT).select(*rule.key, f.struct("*").alias(_NOW))
    # By key first, so that what follows needs no second exchange.
    one = _deduplicate(rows.repartition(*rule.key), rule).withColumn(_HERE, f.lit(True))
    both = one.join(now, list(rule.keys), "full" if gone_at else "left")
    since = _current_from()
    known = since.isNotNull() & (column(FROM) >= since) & rule.state().eqNullSafe(rule.state(_NOW))
    key = Window.partitionBy(*rule.key)
    if gone_at:
        # What is to begin later is not known to be gone.
        both = both.filter(column(_HERE) | (since < timestamp_literal(gone_at)))
    return (
        both.withColumn(_HAS_NEWS, f.max(column(_HERE).isNull() | ~known | column(_TWICE)).over(key))
        .withColumn(_FIRST, f.min(FROM).over(key))
        .filter(column(_HAS_NEWS) | any_null(rule.key) | column(FROM).isNull())
        .withColumn(_NEEDS_PAST, since.isNull() | (column(_FIRST) <= since))
    )


def _deduplicate(rows: DataFrame, rule: VersionRule) -> DataFrame:
    """Keep one row for each key and time, and flag times with several different rows."""
    time = Window.partitionBy(*rule.key, column(FROM))
    if rule.last_by:
        last = column(rule.last_by)
        rows = rows.withColumn(_LAST, f.max(last).over(time)).filter(last.eqNullSafe(column(_LAST))).drop(_LAST)
    twice = ~f.min(rule.state()).over(time).eqNullSafe(f.max(rule.state()).over(time))
    # Those that differ in nothing that counts: always the same one, so that a second try gives the same.
    number = f.row_number().over(time.orderBy(f.to_json(f.struct(*map(column, rows.columns)))))
    return rows.withColumn(_TWICE, twice).withColumn(_NUMBER, number).filter(column(_NUMBER) == 1).drop(_NUMBER)


def refuse_invalid_rows(found: DataFrame, rule: VersionRule, *, at: str | None, last_by: str | None) -> Row:
    """Refuse rows without key or time, and conflicting ones; return how many are `arriving` and how many `missing`."""
    here = column(_HERE).isNotNull()
    counts = found.agg(
        f.count_if(here).alias("arriving"),
        f.count_if(~here & _current_from().isNotNull()).alias("missing"),
        f.count_if(here & any_null(rule.key)).alias("nameless"),
        f.count_if(here & column(FROM).isNull()).alias("timeless"),
        f.count_if(here & column(_TWICE)).alias("twice"),
        f.min_by(f.struct(*rule.key, FROM), f.when(column(_TWICE), f.lit(1))).alias("such"),
    ).first()
    assert counts is not None  # noqa: S101 - an aggregate has one row
    if counts.nameless:
        names = " and ".join(rule.keys)
        raise DataError(f"Rows of the source have no {names}.", "Every row needs a key.")
    if counts.timeless:
        raise DataError(f"Rows of the source have no {at}.", "Fill it, or keep the history without it.")
    if counts.twice:
        such = ", ".join(str(value) for value in counts.such[:-1])
        raise DataError(
            f"{counts.twice:,} keys have several different rows for one time, such as {such} at {counts.such[-1]}.",
            f"Make {last_by} unique." if last_by else "Name a field that says which of them is the last.",
        )
    return counts


def affected_versions(found: DataFrame, stored: DataFrame, rule: VersionRule) -> DataFrame:
    """Return the stored versions of the changed keys: the current one, and past ones where they matter."""
    first = found.filter(column(_HERE) & (column(FROM) == column(_FIRST)))
    current = first.filter(_current_from().isNotNull()).select(f.col(f"`{_NOW}`.*"))
    deep = first.filter(column(_NEEDS_PAST)).select(*rule.key)
    past = stored.filter(~column(CURRENT)).join(deep, list(rule.keys), "left_semi")
    return current.select(*stored.columns).unionByName(past.select(*stored.columns))


def build_changes(
    found: DataFrame, known: DataFrame, rule: VersionRule, moment: datetime, *, returning: bool
) -> DataFrame:
    """Return the versions that are to be written, and those that are to be deleted."""
    fields = [column(name) for name in known.columns]
    here = found.filter(column(_HERE))
    arriving = as_events(here.select(*fields), EventKind.ARRIVING)
    events = version_events(known, rule).unionByName(end_events(known, rule)).unionByName(arriving)
    if returning:
        events = events.unionByName(returned_rows(here.select(*fields), known, rule, moment))
    there = known.select(*rule.key, KEY, column(TO).alias(_UNTIL), f.lit(True).alias(_NOW))
    both = build_versions(events, rule).join(there, [*rule.keys, KEY], "full")
    new = column(KIND).isNull() | (column(KIND) == EventKind.ARRIVING) | ~column(TO).eqNullSafe(column(_UNTIL))
    changed = both.filter(new).select(*fields, column(KIND).isNull().alias(GONE))
    return changed.unionByName(_end_missing(found, fields, moment))


def _end_missing(found: DataFrame, fields: Sequence[Column], moment: datetime) -> DataFrame:
    """Return the current versions of missing keys, ended."""
    missing = found.filter(column(_HERE).isNull()).select(f.col(f"`{_NOW}`.*")).select(*fields)
    return missing.withColumns({TO: timestamp_literal(moment), CURRENT: f.lit(False), GONE: f.lit(False)})


def returned_rows(here: DataFrame, known: DataFrame, rule: VersionRule, moment: datetime) -> DataFrame:
    """Return rows that had been gone and exist again with an older time: they are valid from now on."""
    newest = f.max(FROM).over(Window.partitionBy(*rule.key))
    last = here.withColumn(_LAST, newest).filter(column(FROM) == column(_LAST)).drop(_LAST)
    ended = known.groupBy(*rule.key).agg(f.max(TO).alias(_UNTIL), f.max(CURRENT).alias(_NOW))
    gone = ended.filter(~column(_NOW) & (column(_UNTIL) <= timestamp_literal(moment))).drop(_NOW)
    found = last.join(gone, list(rule.keys)).filter(column(FROM) < column(_UNTIL)).drop(_UNTIL)
    return as_events(found.withColumn(FROM, timestamp_literal(moment)), EventKind.ARRIVING)


def _current_from() -> Column:
    return f.col(f"`{_NOW}`.{FROM}")


def any_null(key: Sequence[Column]) -> Column:
    """Return whether any column of a key is null."""
    return reduce(lambda one, other: one | other, (part.isNull() for part in key))
