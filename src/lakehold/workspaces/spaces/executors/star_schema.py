"""Loads the tables of a star schema: dimensions, facts and views, each in one marked snapshot.

A dimension is computed as a whole from what it has and what arrives, and its table is made the mirror of that. Of a
fact, the rows that arrive are merged, and of the others those whose member has become another one: what is late, in
whatever order, ends in the same star. A row that stays as it is is not written.

A surrogate key is the first 63 bits of the SHA-256 of business key and start of the version (of the business key alone,
if there are no versions). Unlike a number that is counted up, it is the same when a table is loaded anew, and it is
never given to another member, although nothing remembers which ones were taken. Two of ten million versions have the
same one with a probability of 1 : 180,000; the write refuses them before anything is stored.

A fact gets the last version that had begun when it happened, or the first one if none had: a member that was deleted
before, or first seen after, is still the one that is meant. Without a member of its business key it gets the unknown
one, and keeps its business key, so that a later load finds the member once it is there.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import reduce
from operator import and_, or_

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f
from pyspark.sql import types as t

from lakehold.lake.errors import DataError
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.spark.jvm import materialised, move_to_session
from lakehold.lake.spark.scd2 import FROM, column
from lakehold.lake.spark.table_writer import (
    SchemaEvolution,
    TableWriteOptions,
    TableWriteResult,
    WriteMode,
    conform_rows,
    write_once,
    write_rows,
)
from lakehold.lake.spark.tables import Tables
from lakehold.workspaces.spaces.executors.star_members import (
    UNKNOWN,
    arriving_members,
    compute_members,
    find_field,
    refuse_incomparable,
    refuse_invalid_members,
    unknown_member,
)
from lakehold.workspaces.spaces.tasks.data_mart import (
    DataMartTaskSettings,
    StarDimension,
    StarFact,
    StarLink,
    StarView,
    view_column,
)

_BEGIN, _END, _MEMBER, _RANK = "lakehold:begin", "lakehold:end", "lakehold:member", "lakehold:rank"


def load_dimension(
    tables: Tables,
    source: DataFrame,
    place: TableIdentifier,
    dimension: StarDimension,
    *,
    mark: str,
    moment: datetime,
    reload: bool = False,
) -> TableWriteResult:
    """Load the rows of the source, as it is at this moment, into a dimension, which is created if it does not exist.

    A reload forgets what only earlier loads saw. Without `at` that is when each version began, so nothing is forgotten.
    """
    if written := _written_before(tables, place, mark):
        return written
    _refuse_other_table(tables, place, dimension)
    arriving = _conform(tables, place, arriving_members(move_to_session(tables.session, source), dimension, moment))
    stored = tables.read(place)
    known = stored.filter(column(dimension.key_column) != UNKNOWN)
    refuse_invalid_members(arriving, dimension)
    if dimension.closes_missing and not reload:
        _refuse_empty(arriving, known, dimension.name)
    if reload and dimension.at:
        known = known.limit(0)
    members = compute_members(arriving, known, dimension, moment).unionByName(unknown_member(stored, dimension))
    return _write(tables, place, members, TableWriteOptions(WriteMode.MIRROR, mark, [dimension.key_column]))


def load_fact(
    tables: Tables,
    source: DataFrame,
    place: TableIdentifier,
    fact: StarFact,
    *,
    star: DataMartTaskSettings,
    dimensions: Mapping[str, TableIdentifier],
    mark: str,
    reload: bool = False,
) -> TableWriteResult:
    """Load the rows of the source into a fact, and link all its rows to the members that there are now.

    A reload removes the rows that do not arrive.
    """
    if written := _written_before(tables, place, mark):
        return written
    arriving = _conform(tables, place, _arriving_facts(move_to_session(tables.session, source), fact))
    stored = tables.read(place)
    used = [star.dimension(link.dimension) for link in fact.links]
    if any(each.has_versions for each in used) and not arriving.filter(column(fact.at).isNull()).isEmpty():
        message = f"Rows of the fact {fact.name} have no {fact.at}."
        raise DataError(message, "Fill it: it says which versions of the dimensions they get.")
    versions = [_lookup(tables.read(dimensions[each.name]), each) for each in used]
    rows = _relink(_find_members(arriving, fact, versions), fact)
    if fact.removes_missing and not reload:
        _refuse_empty(arriving, stored, fact.name)
    if fact.removes_missing or reload:
        return _write(tables, place, rows, TableWriteOptions(WriteMode.MIRROR, mark, fact.keys))
    if moved := [~column(link.key_column).eqNullSafe(column(_found(link))) for link in fact.links]:
        others = stored.join(arriving, list(fact.keys), "left_anti").select(*map(column, stored.columns))
        changed = _find_members(others, fact, versions).filter(reduce(or_, moved))
        rows = rows.unionByName(_relink(changed, fact))
    return _write(tables, place, rows, TableWriteOptions(WriteMode.MERGE, mark, fact.keys))


def load_view(
    tables: Tables,
    place: TableIdentifier,
    view: StarView,
    *,
    star: DataMartTaskSettings,
    fact: TableIdentifier,
    dimensions: Mapping[str, TableIdentifier],
    mark: str,
) -> TableWriteResult:
    """Write the rows of a fact with the chosen columns of its dimensions into a flat table."""
    if written := _written_before(tables, place, mark):
        return written
    fact_settings = star.fact(view.fact)
    links = {link.role_name: link for link in fact_settings.links}
    rows = tables.read(fact)
    for chosen in view.dimensions:
        link = links[chosen.role]
        dimension = star.dimension(link.dimension)
        members, on = tables.read(dimensions[link.dimension]), {dimension.key_column: link.key_column}
        if view.as_of == "current":
            members = _newest_versions(members, dimension)
            on = dict(zip(dimension.business_key, link.columns, strict=True))
        rows = _join_members(rows, members, on, {name: view_column(chosen.role, name) for name in chosen.columns})
    flat = rows.drop(*(link.key_column for link in fact_settings.links))
    refuse_incomparable(flat.schema)
    # Where the columns are others, the rows are all written; else those that changed.
    has_same = tables.exists(place) and flat.schema.simpleString() == tables.schema(place).simpleString()
    mode = WriteMode.MIRROR if has_same else WriteMode.OVERWRITE
    evolution = SchemaEvolution.MERGE if has_same else SchemaEvolution.OVERWRITE
    return _write(tables, place, flat, TableWriteOptions(mode, mark, fact_settings.keys, evolution))


def _arriving_facts(source: DataFrame, fact: StarFact) -> DataFrame:
    """Return the rows of the source with the columns of the fact's table."""
    keys = [f.lit(None).cast("bigint").alias(link.key_column) for link in fact.links]
    names = [find_field(source.schema, name).name for name in fact.kept_columns or source.columns]
    for name in fact.needed_columns:
        find_field(source.schema, name)
    rows = source.select(*keys, *map(column, names))
    refuse_incomparable(rows.schema)
    return rows


def _lookup(members: DataFrame, dimension: StarDimension) -> DataFrame:
    """Return the members by business key, each version with the time of the facts that get it."""
    names = [find_field(members.schema, name).name for name in dimension.business_key]
    begin = end = f.lit(None).cast("timestamp")
    if dimension.has_versions:
        time = Window.partitionBy(*map(column, names)).orderBy(FROM)
        # The first one is that of older facts too.
        begin, end = f.when(f.lag(FROM).over(time).isNotNull(), column(FROM)), f.lead(FROM).over(time)
    return members.filter(column(dimension.key_column) != UNKNOWN).select(
        *(column(name).alias(_key(number)) for number, name in enumerate(names)),
        column(dimension.key_column).alias(_MEMBER),
        begin.alias(_BEGIN),
        end.alias(_END),
    )


def _find_members(rows: DataFrame, fact: StarFact, versions: Sequence[DataFrame]) -> DataFrame:
    """Return the rows with the surrogate key that each link should have."""
    for link, found in zip(fact.links, versions, strict=True):
        keys = {_key(number): find_field(rows.schema, name) for number, name in enumerate(link.columns)}
        for key, field in keys.items():
            _refuse_other_type(field, found.schema[key], link)
        same = reduce(and_, (column(key) == column(field.name) for key, field in keys.items()))
        then = column(fact.at).cast("timestamp") if fact.at else f.lit(None).cast("timestamp")
        valid = (column(_BEGIN).isNull() | (then >= column(_BEGIN))) & (column(_END).isNull() | (then < column(_END)))
        rows = (
            rows.join(found, same & valid, "left")
            .withColumn(_found(link), f.coalesce(column(_MEMBER), f.lit(UNKNOWN).cast("bigint")))
            .drop(_MEMBER, _BEGIN, _END, *keys)
        )
    return rows


def _relink(rows: DataFrame, fact: StarFact) -> DataFrame:
    """Return the rows with the surrogate keys that were found."""
    found = {link.key_column: column(_found(link)) for link in fact.links}
    return rows.withColumns(found).drop(*map(_found, fact.links)) if found else rows


def _refuse_other_type(field: t.StructField, key: t.StructField, link: StarLink) -> None:
    """Refuse to compare values of different types, such as a number and a text."""
    one, other = field.dataType, key.dataType
    alike = one == other or all(isinstance(each, t.NumericType) for each in (one, other))
    if not alike and not all(isinstance(each, t.StringType) for each in (one, other)):
        message = f"{field.name} is {one.simpleString()}, the business key of {link.dimension} {other.simpleString()}."
        raise DataError(message, "Convert one of them before.")


def _newest_versions(members: DataFrame, dimension: StarDimension) -> DataFrame:
    """Return the last version of each member, even of one that is gone."""
    if not dimension.has_versions:
        return members
    time = Window.partitionBy(*map(column, dimension.business_key)).orderBy(column(FROM).desc())
    return members.withColumn(_RANK, f.row_number().over(time)).filter(column(_RANK) == 1).drop(_RANK)


def _join_members(rows: DataFrame, members: DataFrame, on: Mapping[str, str], names: Mapping[str, str]) -> DataFrame:
    """Join columns of members, called by these names, to the rows of a fact."""
    chosen = [column(find_field(members.schema, name).name).alias(called) for name, called in names.items()]
    keys = {_key(number): pair for number, pair in enumerate(on.items())}
    own = [column(name).alias(key) for key, (name, _) in keys.items()]
    same = reduce(and_, (column(key) == column(name) for key, (_, name) in keys.items()))
    return rows.join(members.select(*own, *chosen), same, "left").drop(*keys)


def _found(link: StarLink) -> str:
    return f"lakehold:found:{link.role_name}"


def _key(number: int) -> str:
    return f"lakehold:key:{number}"


def _written_before(tables: Tables, place: TableIdentifier, mark: str) -> TableWriteResult | None:
    """Return the result of the write of this mark, if it was made before."""
    if not tables.exists(place):
        return None
    written = write_once(tables, place, mark, lambda _: None)
    return written if written.again else None


def _conform(tables: Tables, place: TableIdentifier, rows: DataFrame) -> DataFrame:
    """Return the rows with the columns of the table, which is created or extended where needed."""
    if not tables.exists(place):
        tables.create(place, rows.schema)
    return conform_rows(tables, place, rows, SchemaEvolution.MERGE)


def _refuse_other_table(tables: Tables, place: TableIdentifier, dimension: StarDimension) -> None:
    """Refuse a table that was made for another type of history."""
    if not tables.exists(place):
        return
    if missing := {dimension.key_column, *dimension.own_columns} - set(tables.schema(place).fieldNames()):
        message = f"The table of the dimension {dimension.name} has no {', '.join(sorted(missing))}."
        raise DataError(message, "It was made with other settings: prepare the task, and recreate the table.")


def _refuse_empty(arriving: DataFrame, stored: DataFrame, name: str) -> None:
    """Refuse a full source without any row, which would remove all that is stored."""
    if arriving.isEmpty() and not stored.isEmpty():
        message = f"The source of {name} is empty, which would remove everything from it."
        raise DataError(message, "Check the source; if that is right, reload the task.")


def _write(tables: Tables, place: TableIdentifier, rows: DataFrame, how: TableWriteOptions) -> TableWriteResult:
    # Spark merges no rows into a table that are still to be read from it.
    with materialised(rows) as found:
        return write_rows(tables, place, found, how)
