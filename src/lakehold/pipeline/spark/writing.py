"""Writes to a table. Each is one snapshot with the mark of the write: one that is begun again does nothing twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from lakehold.kit.errors import InvalidInputError
from lakehold.pipeline.errors import DataError
from lakehold.pipeline.lake import Place
from lakehold.pipeline.metadata import Snapshot
from lakehold.pipeline.quoting import quoted
from lakehold.pipeline.spark import spans
from lakehold.pipeline.spark.evolution import Evolution, fitted, refuse_twins
from lakehold.pipeline.spark.jvm import within
from lakehold.pipeline.spark.spans import Within
from lakehold.pipeline.spark.tables import PROPERTIES, Tables

_SHOWN = 3


class Mode(StrEnum):
    """What becomes of the rows that are there."""

    APPEND = "append"
    """They stay."""
    OVERWRITE = "overwrite"
    """They go."""
    MERGE = "merge"
    """Those with the same key are replaced."""
    MIRROR = "mirror"
    """The same, and those whose key does not arrive go."""


@dataclass(frozen=True, slots=True)
class Write:
    """How rows go into a table."""

    mode: Mode
    mark: str
    """Names this write: of the same name there is one."""
    keys: Sequence[str] = ()
    evolution: Evolution = Evolution.MERGE
    partitioned_by: Sequence[str] = ()
    part: Within | None = None
    """What is added takes the place of what lies in this part."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a write did."""

    snapshot: int | None
    """None if there was nothing to do."""
    added: int = 0
    removed: int = 0
    size: int = 0
    total: int = 0
    again: bool = False
    """Whether it had been done before."""


def write(tables: Tables, place: Place, rows: DataFrame, how: Write) -> Written:
    """Write the rows, whichever session they come from. The table is made if it is not there."""
    refuse_twins(rows.schema)
    if not tables.exists(place):
        tables.create(place, rows.schema, partitioned_by=how.partitioned_by)
    if done := tables.now(place).made_by(how.mark):
        return told(done, again=True)
    with tables.marking(how.mark) as session:
        _write(tables, session, place, rows, how)
    made = tables.now(place).made_by(how.mark)
    return Written(None) if made is None else told(made)


def _write(tables: Tables, session: SparkSession, place: Place, rows: DataFrame, how: Write) -> None:
    match how.mode:
        case Mode.OVERWRITE if how.evolution is Evolution.OVERWRITE and rows.schema != tables.schema(place):
            _replace(place, within(session, rows), how)
        case Mode.OVERWRITE:
            ready = within(session, fitted(tables, place, rows, how.evolution))
            ready.writeTo(place.sql).overwrite(f.lit(True))
        case Mode.APPEND if how.part is not None:
            spans.replace(session, place, fitted(tables, place, rows, how.evolution), how.part)
        case Mode.APPEND:
            within(session, fitted(tables, place, rows, how.evolution)).writeTo(place.sql).append()
        case Mode.MERGE | Mode.MIRROR:
            _merge(session, place, fitted(tables, place, rows, how.evolution), how)


def refuse_doubles(rows: DataFrame, keys: Sequence[str]) -> None:
    """Refuse rows of which several have one key, or of which one has none."""
    if not keys:
        raise InvalidInputError("To merge, the table needs a key.", "Name the fields that tell one row from another.")
    names = {name.lower(): name for name in rows.columns}
    for key in keys:
        if key.lower() not in names:
            raise DataError(f"The key {key!r} is no field of the rows.", f"They have: {', '.join(rows.columns)}.")
    columns = [f.col(quoted(names[key.lower()])) for key in keys]
    empty = rows.filter(reduce(lambda one, other: one | other, (column.isNull() for column in columns)))
    if empty.limit(1).count():
        raise DataError(f"{empty.count():,} rows have no {' and '.join(keys)}.", "A key must be there in every row.")
    doubles = rows.groupBy(*columns).count().filter(f.col("count") > 1)
    some = doubles.limit(_SHOWN).collect()
    if some:
        shown = "; ".join(", ".join(str(value) for value in row[:-1]) for row in some)
        raise DataError(
            f"{doubles.count():,} keys are there more than once, such as {shown}.",
            f"Choose a key that tells rows apart, or keep one row for each {' and '.join(keys)}.",
        )


def _merge(session: SparkSession, place: Place, rows: DataFrame, how: Write) -> None:
    ready = within(session, rows)
    refuse_doubles(ready, how.keys)
    ready.createOrReplaceTempView("arriving")
    names = {name.lower(): name for name in ready.columns}
    same = " AND ".join(f"t.{quoted(names[key.lower()])} = s.{quoted(names[key.lower()])}" for key in how.keys)
    others = [quoted(name) for name in ready.columns if name.lower() not in {key.lower() for key in how.keys}]
    # A row that arrives as it is there is not written anew.
    changed = " OR ".join(f"NOT (t.{name} <=> s.{name})" for name in others)
    update = f"WHEN MATCHED AND ({changed}) THEN UPDATE SET *" if others else ""
    gone = "WHEN NOT MATCHED BY SOURCE THEN DELETE" if how.mode is Mode.MIRROR else ""
    session.sql(f"MERGE INTO {place.sql} t USING arriving s ON {same} {update} WHEN NOT MATCHED THEN INSERT * {gone}")


def _replace(place: Place, rows: DataFrame, how: Write) -> None:
    writer = rows.writeTo(place.sql).using("iceberg")
    for name, value in PROPERTIES.items():
        writer = writer.tableProperty(name, value)
    if how.partitioned_by:
        writer = writer.partitionedBy(*(f.col(quoted(name)) for name in how.partitioned_by))
    writer.replace()


def told(made: Snapshot, *, again: bool = False) -> Written:
    """What the write of a snapshot did."""
    return Written(
        made.id,
        made.count("added-records"),
        made.count("deleted-records") + made.count("added-position-deletes"),
        made.count("added-files-size"),
        made.count("total-records"),
        again,
    )
