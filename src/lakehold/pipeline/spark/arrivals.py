"""What arrives for a history: what of it is new, what does not fit, and what it changes.

Most rows of a full source say what is known already. They are told apart by one look at the current versions; only of
the others are older versions read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from lakehold.pipeline.errors import DataError
from lakehold.pipeline.spark.versions import (
    CURRENT,
    FROM,
    KEY,
    KIND,
    TO,
    Kind,
    Rule,
    column,
    ends,
    held,
    laid_out,
    of_kind,
)

GONE = "lakehold:gone"
_NOW, _HERE, _TWICE, _LOUD, _DEEP, _FIRST = (
    f"lakehold:{word}" for word in ("now", "here", "twice", "loud", "deep", "first")
)
_LAST, _UNTIL, _NUMBER = "lakehold:last", "lakehold:until", "lakehold:number"


@dataclass(frozen=True, slots=True)
class Seen:
    """How much there is to do."""

    arriving: int
    missing: int


def instant(moment: datetime) -> Column:
    """A moment, to the microsecond."""
    return f.timestamp_micros(f.lit((moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)))


def noticed(rows: DataFrame, stored: DataFrame, rule: Rule, gone_at: datetime | None) -> DataFrame:
    """The rows of keys that have anything new to say, each with the current version; and what is missing, if asked."""
    now = stored.filter(CURRENT).select(*rule.key, f.struct("*").alias(_NOW))
    # By key first, so that what follows needs no second exchange.
    one = _resolved(rows.repartition(*rule.key), rule).withColumn(_HERE, f.lit(True))
    both = one.join(now, list(rule.keys), "full" if gone_at else "left")
    since = _since()
    known = since.isNotNull() & (column(FROM) >= since) & rule.state().eqNullSafe(rule.state(_NOW))
    key = Window.partitionBy(*rule.key)
    if gone_at:
        # What is to begin later is not known to be gone.
        both = both.filter(column(_HERE) | (since < instant(gone_at)))
    return (
        both.withColumn(_LOUD, f.max(column(_HERE).isNull() | ~known | column(_TWICE)).over(key))
        .withColumn(_FIRST, f.min(FROM).over(key))
        .filter(column(_LOUD) | _nothing(rule.key) | column(FROM).isNull())
        .withColumn(_DEEP, since.isNull() | (column(_FIRST) <= since))
    )


def _resolved(rows: DataFrame, rule: Rule) -> DataFrame:
    """One row for each key and time. Several that differ are marked."""
    time = Window.partitionBy(*rule.key, column(FROM))
    if rule.last_by:
        last = column(rule.last_by)
        rows = rows.withColumn(_LAST, f.max(last).over(time)).filter(last.eqNullSafe(column(_LAST))).drop(_LAST)
    twice = ~f.min(rule.state()).over(time).eqNullSafe(f.max(rule.state()).over(time))
    # Those that differ in nothing that counts: always the same one, so that a second try gives the same.
    number = f.row_number().over(time.orderBy(f.to_json(f.struct(*map(column, rows.columns)))))
    return rows.withColumn(_TWICE, twice).withColumn(_NUMBER, number).filter(column(_NUMBER) == 1).drop(_NUMBER)


def refuse_bad(found: DataFrame, rule: Rule, *, at: str | None, last_by: str | None) -> Seen:
    """Refuse rows without key or time, and several of which nobody can say which one counts."""
    here = column(_HERE).isNotNull()
    counts = found.agg(
        f.count_if(here).alias("arriving"),
        f.count_if(~here & _since().isNotNull()).alias("missing"),
        f.count_if(here & _nothing(rule.key)).alias("nameless"),
        f.count_if(here & column(FROM).isNull()).alias("timeless"),
        f.count_if(here & column(_TWICE)).alias("twice"),
        f.min_by(f.struct(*rule.key, FROM), f.when(column(_TWICE), f.lit(1))).alias("such"),
    ).first()
    assert counts is not None  # noqa: S101 - an aggregate has one row
    if counts.nameless:
        names = " and ".join(rule.keys)
        raise DataError(f"Rows of the source have no {names}.", "A key must be there in every row.")
    if counts.timeless:
        raise DataError(f"Rows of the source have no {at}.", "Fill it, or keep the history without.")
    if counts.twice:
        such = ", ".join(str(value) for value in counts.such[:-1])
        raise DataError(
            f"{counts.twice:,} keys have several different rows for one time, such as {such} at {counts.such[-1]}.",
            f"Make {last_by} tell them apart." if last_by else "Name a field that says which of them is the last.",
        )
    return Seen(counts.arriving, counts.missing)


def known(found: DataFrame, stored: DataFrame, rule: Rule) -> DataFrame:
    """The versions of the keys that arrive: the current one, and the others where they matter."""
    first = found.filter(column(_HERE) & (column(FROM) == column(_FIRST)))
    current = first.filter(_since().isNotNull()).select(f.col(f"`{_NOW}`.*"))
    deep = first.filter(column(_DEEP)).select(*rule.key)
    past = stored.filter(~column(CURRENT)).join(deep, list(rule.keys), "left_semi")
    return current.select(*stored.columns).unionByName(past.select(*stored.columns))


def changing(found: DataFrame, known: DataFrame, rule: Rule, moment: datetime, *, returning: bool) -> DataFrame:
    """The versions that are to be written, and those that are to go."""
    fields = [column(name) for name in known.columns]
    here = found.filter(column(_HERE))
    arriving = of_kind(here.select(*fields), Kind.ARRIVING)
    events = held(known, rule).unionByName(ends(known, rule)).unionByName(arriving)
    if returning:
        events = events.unionByName(_back(here.select(*fields), known, rule, moment))
    there = known.select(*rule.key, KEY, column(TO).alias(_UNTIL), f.lit(True).alias(_NOW))
    both = laid_out(events, rule).join(there, [*rule.keys, KEY], "full")
    new = column(KIND).isNull() | (column(KIND) == Kind.ARRIVING) | ~column(TO).eqNullSafe(column(_UNTIL))
    changed = both.filter(new).select(*fields, column(KIND).isNull().alias(GONE))
    return changed.unionByName(_ended(found, fields, moment))


def _ended(found: DataFrame, fields: Sequence[Column], moment: datetime) -> DataFrame:
    """The current versions of what is missing, ended."""
    missing = found.filter(column(_HERE).isNull()).select(f.col(f"`{_NOW}`.*")).select(*fields)
    return missing.withColumns({TO: instant(moment), CURRENT: f.lit(False), GONE: f.lit(False)})


def _back(here: DataFrame, known: DataFrame, rule: Rule, moment: datetime) -> DataFrame:
    """What had been gone and is there again, though its own time is older: it is back from now on."""
    newest = f.max(FROM).over(Window.partitionBy(*rule.key))
    last = here.withColumn(_LAST, newest).filter(column(FROM) == column(_LAST)).drop(_LAST)
    ended = known.groupBy(*rule.key).agg(f.max(TO).alias(_UNTIL), f.max(CURRENT).alias(_NOW))
    gone = ended.filter(~column(_NOW) & (column(_UNTIL) <= instant(moment))).drop(_NOW)
    found = last.join(gone, list(rule.keys)).filter(column(FROM) < column(_UNTIL)).drop(_UNTIL)
    return of_kind(found.withColumn(FROM, instant(moment)), Kind.ARRIVING)


def _since() -> Column:
    return f.col(f"`{_NOW}`.{FROM}")


def _nothing(key: Sequence[Column]) -> Column:
    return reduce(lambda one, other: one | other, (part.isNull() for part in key))
