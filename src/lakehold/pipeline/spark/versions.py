"""The versions of rows: what is known of each by time, laid out without overlap.

What is known are events: a version that is there already, a row that arrives, an end (the row was gone from then on).
Of those at one time one counts; an arriving row that says what was true anyway is none; each version lasts until the
next event.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f
from pyspark.sql.types import DataType, MapType, StructField

from lakehold.pipeline.quoting import quoted

KEY, FROM, TO, CURRENT = "surrogate_key", "valid_from", "valid_to", "is_current"
OWN = (KEY, FROM, TO, CURRENT)
"""The fields that a history has beside those of its source."""
KIND = "lakehold:kind"
_NEWS, _BEFORE, _NUMBER = "lakehold:news", "lakehold:before", "lakehold:number"
_STATE_BEFORE, _STATE_THERE = "lakehold:was", "lakehold:there"


class Kind(IntEnum):
    """What an event is."""

    END = 0
    KNOWN = 1
    ARRIVING = 2


@dataclass(frozen=True, slots=True)
class Rule:
    """Which rows are versions of one, and when two of them differ."""

    keys: Sequence[str]
    tracked: Sequence[StructField]
    last_by: str | None = None

    @property
    def key(self) -> list[Column]:
        """What tells one row from another."""
        return [column(name) for name in self.keys]

    def state(self, within: str = "") -> Column:
        """What is compared, as one value; of the row itself, or of one that it carries in a field."""
        parts = (_comparable(field, within).alias(f"f{index}") for index, field in enumerate(self.tracked))
        return f.struct(*parts) if self.tracked else f.struct(f.lit(1).alias("f0"))

    def surrogate(self) -> Column:
        """The same for the same key and time, wherever and whenever it is made."""
        # Sorted, since the order in which somebody names the keys means nothing.
        parts = (column(name).cast("string") for name in sorted(self.keys, key=str.lower))
        text = f.to_json(f.array(*parts, f.unix_micros(FROM).cast("string")))
        return f.substring(f.sha2(text, 256), 1, 32)


def column(name: str) -> Column:
    """The column of this very name, whatever is in it."""
    return f.col(quoted(name))


def ends(known: DataFrame, rule: Rule) -> DataFrame:
    """The events that known versions ended with, other than by the next version."""
    following = f.lead(FROM).over(Window.partitionBy(*rule.key).orderBy(FROM))
    found = known.withColumn(_BEFORE, following).filter(
        column(TO).isNotNull() & (column(_BEFORE).isNull() | (column(_BEFORE) > column(TO)))
    )
    return of_kind(found.drop(_BEFORE).withColumn(FROM, column(TO)), Kind.END)


def of_kind(rows: DataFrame, kind: Kind) -> DataFrame:
    """Rows as events."""
    return rows.withColumn(KIND, f.lit(int(kind))).withColumn(_NEWS, f.lit(True))


def held(known: DataFrame, rule: Rule) -> DataFrame:
    """Known versions as events. Two that follow each other may differ in nothing that is compared any longer."""
    time = Window.partitionBy(*rule.key).orderBy(FROM)
    same = f.lag(rule.state()).over(time).eqNullSafe(rule.state()) & f.lag(TO).over(time).eqNullSafe(column(FROM))
    return of_kind(known, Kind.KNOWN).withColumn(_NEWS, ~same)


def laid_out(events: DataFrame, rule: Rule) -> DataFrame:
    """The versions that the events make."""
    kind, before = column(KIND), column(_BEFORE)
    time = Window.partitionBy(*rule.key).orderBy(FROM)
    after = (
        _one_at_a_time(events, rule)
        .withColumn(_BEFORE, f.coalesce(f.lag(KIND).over(time), f.lit(int(Kind.END))))
        .withColumn(_STATE_BEFORE, f.lag(rule.state()).over(time))
    )
    # Nothing new: the same as before, or the end of what was not. A version that was there for a reason that is no
    # longer compared stays.
    said = (kind != Kind.END) & (before != Kind.END) & rule.state().eqNullSafe(column(_STATE_BEFORE)) & column(_NEWS)
    kept = after.filter(~said & ~((kind == Kind.END) & (before == Kind.END))).drop(_BEFORE, _STATE_BEFORE, _NEWS)
    return (
        kept.withColumn(TO, f.lead(FROM).over(time))
        .filter(kind != Kind.END)
        .withColumn(CURRENT, column(TO).isNull())
        .withColumn(KEY, f.when(kind == Kind.KNOWN, column(KEY)).otherwise(rule.surrogate()))
    )


def _one_at_a_time(events: DataFrame, rule: Rule) -> DataFrame:
    """Of several events at one time: a version before an end, the last, what arrives before what was known."""
    kind = column(KIND)
    time = Window.partitionBy(*rule.key, column(FROM))
    there = f.max(f.when(kind == Kind.KNOWN, rule.state())).over(time)
    last = [column(rule.last_by).desc_nulls_last()] if rule.last_by else []
    rank = f.row_number().over(time.orderBy((kind == Kind.END), *last, kind.desc()))
    # What arrives as it is there is not written anew.
    known = (kind == Kind.ARRIVING) & column(_STATE_THERE).isNotNull() & rule.state().eqNullSafe(column(_STATE_THERE))
    new = events.withColumn(_STATE_THERE, there).filter(~known)
    return new.drop(_STATE_THERE).withColumn(_NUMBER, rank).filter(column(_NUMBER) == 1).drop(_NUMBER)


def _comparable(field: StructField, within: str) -> Column:
    """Its value, or a text for what Spark cannot compare."""
    value = f.col(f"{quoted(within)}.{quoted(field.name)}") if within else column(field.name)
    if isinstance(field.dataType, MapType) and not _incomparable(field.dataType.valueType):
        return f.array_sort(f.map_entries(value))
    return f.to_json(f.struct(value.alias("value")), {"ignoreNullFields": "false"}) if _incomparable(field) else value


def _incomparable(kind: DataType | StructField) -> bool:
    return any(word in kind.simpleString() for word in ("map<", "variant"))
