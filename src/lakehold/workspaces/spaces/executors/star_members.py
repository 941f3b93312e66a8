"""Computes the members of a dimension, versions included, from those that it has and the rows that arrive.

The columns of type 2 make versions, as in a history; those of type 1 have the newest value in all versions of a member.
A dimension without versions is one whose members have a single version without an end, and a mark if they are gone.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as t

from lakehold.kit.errors import InvalidInputError
from lakehold.lake.errors import DataError
from lakehold.lake.row_formats import quote_identifier
from lakehold.lake.spark import scd2
from lakehold.lake.spark.local_rows import local_rows
from lakehold.lake.spark.scd2 import CURRENT, FROM, KEY, KIND, TO, EventKind, VersionRule, column
from lakehold.lake.spark.table_writer import refuse_duplicate_fields
from lakehold.workspaces.spaces.tasks.data_mart import CHANGED_AT, IS_DELETED, RESERVED, StarDimension

UNKNOWN = -1
"""The surrogate key of the unknown member, which every dimension has."""
_ALWAYS = datetime(1970, 1, 1, tzinfo=UTC)
_TIMES = (t.DateType, t.TimestampType, t.TimestampNTZType)
_BITS = 2**63 - 1
_NEWEST, _HERE, _WAS_DELETED = "lakehold:newest", "lakehold:here", "lakehold:deleted"


class MemberRule(VersionRule):
    """A version rule whose surrogate keys are numbers."""

    __slots__ = ()

    def surrogate(self) -> Column:
        """Return the first 63 bits of the history's surrogate key: a number above -1 that stays the same."""
        # By name, as a class with slots is made anew.
        digits = f.substring(VersionRule.surrogate(self), 1, 16)
        return f.conv(digits, 16, -10).cast("bigint").bitwiseAND(f.lit(_BITS))


@dataclass(frozen=True)
class MemberColumns:
    """The columns of a dimension as its source has them."""

    dimension: StarDimension
    source: t.StructType

    @cached_property
    def keys(self) -> list[str]:
        """The business key."""
        return [find_field(self.source, name).name for name in self.dimension.business_key]

    @cached_property
    def kept(self) -> list[str]:
        """The columns beside the business key."""
        if self.dimension.columns:
            return [find_field(self.source, each.column).name for each in self.dimension.columns]
        own = self.dimension
        aside = {name.lower() for name in (*RESERVED, own.key_column, *own.business_key, own.at)}
        return [name for name in self.source.fieldNames() if name.lower() not in aside]

    @cached_property
    def tracked(self) -> list[str]:
        """The columns whose change makes a version."""
        if not self.dimension.has_versions:
            return []
        chosen = {each.column.lower() for each in self.dimension.columns if each.history == 1}
        return [name for name in self.kept if name.lower() not in chosen]

    @cached_property
    def overwritten(self) -> list[str]:
        """The columns whose newest value is in all versions."""
        return [name for name in self.kept if name not in self.tracked]


def find_field(schema: t.StructType, name: str) -> t.StructField:
    """Return the field of this name, or refuse."""
    for field in schema.fields:
        if field.name.lower() == name.lower():
            return field
    raise DataError(f"The source has no column {name!r}.", f"It has: {', '.join(schema.fieldNames())}.")


def refuse_incomparable(schema: t.StructType) -> None:
    """Refuse columns whose values cannot be compared, so that nobody can say whether they changed."""
    refuse_duplicate_fields(schema)
    for field in schema.fields:
        if any(word in field.dataType.simpleString() for word in ("map<", "variant")):
            raise DataError(f"The column {field.name} has maps, which cannot be compared.", "Leave it out.")


def arriving_members(source: DataFrame, dimension: StarDimension, moment: datetime) -> DataFrame:
    """Return the rows of the source with the columns of the dimension's table."""
    if moment.tzinfo is None:
        raise InvalidInputError("The moment of a load needs a time zone.", "Give it in UTC.")
    columns = MemberColumns(dimension, source.schema)
    rows = source.select(
        f.lit(None).cast("bigint").alias(dimension.key_column),
        *map(column, (*columns.keys, *columns.kept)),
        *(value.alias(name) for name, value in _own_values(source.schema, dimension, moment)),
    )
    refuse_incomparable(rows.schema)
    return rows.dropDuplicates()


def _own_values(source: t.StructType, dimension: StarDimension, moment: datetime) -> list[tuple[str, Column]]:
    since = scd2.timestamp_literal(moment)
    if dimension.at:
        field = find_field(source, dimension.at)
        if not isinstance(field.dataType, _TIMES):
            message = f"{field.name} is {field.dataType.simpleString()}, not a time."
            raise DataError(message, "Convert it to a date or a timestamp.")
        since = column(field.name).cast("timestamp")
    values = {
        IS_DELETED: f.lit(False),
        FROM: since,
        TO: f.lit(None).cast("timestamp"),
        CURRENT: f.lit(True),
        CHANGED_AT: since,
    }
    return [(name, values[name]) for name in dimension.own_columns]


def refuse_invalid_members(arriving: DataFrame, dimension: StarDimension) -> None:
    """Refuse rows without key or time, and different ones of one member and time."""
    time = [CHANGED_AT] if dimension.at else []
    empty = scd2.any_null([column(name) for name in dimension.business_key])
    timeless = column(CHANGED_AT).isNull() if dimension.at else f.lit(False)
    found = (
        arriving.groupBy(*map(column, (*dimension.business_key, *time)))
        .agg(f.count(f.lit(1)).alias("count"))
        .filter(empty | timeless | (f.col("count") > 1))
        .select(empty.alias("nameless"), timeless.alias("timeless"), *map(column, dimension.business_key))
        .first()
    )
    if found is None:
        return
    if found.nameless:
        raise DataError(f"Rows of the source have no {' and '.join(dimension.business_key)}.", "Every row needs a key.")
    if found.timeless:
        raise DataError(f"Rows of the source have no {dimension.at}.", f"Fill it, or load {dimension.name} without it.")
    such = ", ".join(str(value) for value in found[2:])
    message = f"The dimension {dimension.name} gets several different rows for one member and time, such as {such}."
    raise DataError(message, "Choose another business key, or keep one row of each.", foreign=such)


def compute_members(arriving: DataFrame, stored: DataFrame, dimension: StarDimension, moment: datetime) -> DataFrame:
    """Return all versions of all members but the unknown one, with the columns of the dimension's table."""
    fields = stored.columns
    columns = MemberColumns(dimension, stored.schema)
    rule = MemberRule(columns.keys, [find_field(stored.schema, name) for name in columns.tracked])
    here, known = (_as_versions(rows, dimension) for rows in (arriving, stored))
    events = scd2.version_events(known, rule).unionByName(scd2.as_events(here, EventKind.ARRIVING))
    newest = _newest_values(events, dimension, columns)
    if dimension.has_versions:
        events = events.unionByName(scd2.end_events(known, rule))
        if dimension.closes_missing:
            events = events.unionByName(_missing_members(here, known, rule, moment))
        if dimension.closes_missing and dimension.at:
            events = events.unionByName(scd2.returned_rows(here, known, rule, moment))
    versions = scd2.build_versions(events, rule).drop(*(set(newest.columns) - set(columns.keys)))
    return versions.join(newest, columns.keys).withColumnRenamed(KEY, dimension.key_column).select(*map(column, fields))


def _as_versions(rows: DataFrame, dimension: StarDimension) -> DataFrame:
    """Return rows of the dimension's table as versions of a history."""
    found = rows.withColumnRenamed(dimension.key_column, KEY)
    if dimension.has_versions:
        return found
    always = scd2.timestamp_literal(_ALWAYS)
    return found.withColumns({FROM: always, TO: f.lit(None).cast("timestamp"), CURRENT: f.lit(True)})


def _missing_members(here: DataFrame, known: DataFrame, rule: VersionRule, moment: datetime) -> DataFrame:
    """Return the ends of the members that do not arrive. What is to begin later is not known to be gone."""
    now = scd2.timestamp_literal(moment)
    missing = known.filter(column(CURRENT) & (column(FROM) < now)).join(here, list(rule.keys), "left_anti")
    return scd2.as_events(missing.withColumn(FROM, now), EventKind.END)


def _newest_values(events: DataFrame, dimension: StarDimension, columns: MemberColumns) -> DataFrame:
    """Return for each member the columns that are the same in all its versions."""
    arriving = column(KIND) == EventKind.ARRIVING
    same = [*columns.overwritten, *([CHANGED_AT] if dimension.at else [])]
    # A member with a time is as its newest row says, even if an older one arrives after that.
    age = f.struct(*map(column, [CHANGED_AT] if dimension.at else []), column(KIND), column(FROM))
    found = [f.max_by(f.struct(*map(column, same)), age).alias(_NEWEST)] if same else []
    state = [f.max(column(IS_DELETED)).alias(_WAS_DELETED)] if not dimension.has_versions else []
    each = events.groupBy(*map(column, columns.keys)).agg(f.max(arriving).alias(_HERE), *found, *state)
    values = [f.col(f"`{_NEWEST}`.{quote_identifier(name)}").alias(name) for name in same]
    if state:
        gone = ~column(_HERE) & (f.lit(True) if dimension.closes_missing else column(_WAS_DELETED))
        values.append(gone.alias(IS_DELETED))
    return each.select(*map(column, columns.keys), *values)


def unknown_member(stored: DataFrame, dimension: StarDimension) -> DataFrame:
    """Return the member of facts whose own is not there."""
    values = {dimension.key_column: UNKNOWN, CURRENT: True, IS_DELETED: False}
    row = tuple(values.get(name) for name in stored.columns)
    return local_rows(stored.sparkSession, [row], t.StructType([_nullable(each) for each in stored.schema.fields]))


def _nullable(field: t.StructField) -> t.StructField:
    return t.StructField(field.name, field.dataType)
