"""The differences between two versions of entities: what is new, changed, merged, split or gone, and nothing else.

An entity is

- `new` if the earlier version does not have its id;
- `merged` if its id is retired, and all of its records that there are belong to one other entity;
- `split` if they belong to several, or if it lives on while some of its records are in a new entity;
- `gone` if its id is retired and none of its records is there;
- `changed` if the value of an attribute or the set of its records is another one.
"""

from collections.abc import Sequence
from enum import StrEnum

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from lakehold.lake.row_formats import quote_identifier


class EntityChange(StrEnum):
    """The kinds of changes of an entity between two versions."""

    NEW = "new"
    CHANGED = "changed"
    MERGED = "merged"
    SPLIT = "split"
    GONE = "gone"


def diff_versions(
    before: tuple[DataFrame, DataFrame], after: tuple[DataFrame, DataFrame], attributes: Sequence[str]
) -> DataFrame:
    """Return the changes from one version to another, each its members and its entities.

    The columns are `entity`, `change`, `attributes` (those with another value) and `successors` (the entities that its
    records are in now, if it was merged or split).
    """
    old_members, new_members = (members.select("record", "entity") for members, _ in (before, after))
    values = _diff_values(before[1], after[1], attributes)
    moves = _diff_members(old_members, new_members)
    found = values.join(moves, "entity", "left").withColumn("successors", f.coalesce("successors", _no_texts()))
    change = _change()
    return found.select(
        "entity",
        change.alias("change"),
        "attributes",
        f.when(change.isin("merged", "split"), f.col("successors")).otherwise(_no_texts()).alias("successors"),
    ).where("change IS NOT NULL")


def _change() -> Column:
    lives, count = f.col("is_old") & f.col("is_new"), f.size("successors")
    is_changed = (f.size("attributes") > 0) | f.coalesce("is_moved", f.lit(False))
    cases = (
        (~f.col("is_old"), EntityChange.NEW),
        (~f.col("is_new") & (count == 0), EntityChange.GONE),
        (~f.col("is_new") & (count == 1), EntityChange.MERGED),
        (~f.col("is_new") | (lives & f.coalesce("has_new", f.lit(False))), EntityChange.SPLIT),
        (is_changed, EntityChange.CHANGED),
    )
    found = f.lit(None).cast("string")
    for condition, change in reversed(cases):
        found = f.when(condition, f.lit(change.value)).otherwise(found)
    return found


def _diff_values(before: DataFrame, after: DataFrame, attributes: Sequence[str]) -> DataFrame:
    """Return each entity with whether either version has it, and the attributes whose values differ."""
    old, new = before.alias("old"), after.alias("new")
    columns = [
        (name, f.col(f"old.{quote_identifier(name)}"), f.col(f"new.{quote_identifier(name)}")) for name in attributes
    ]
    names = [f.when(~one.eqNullSafe(other), f.lit(name)) for name, one, other in columns]
    is_old, is_new = f.col("old.entity").isNotNull(), f.col("new.entity").isNotNull()
    differing = f.array_compact(f.array(*names)) if names else _no_texts()
    return old.join(new, f.col("old.entity") == f.col("new.entity"), "full").select(
        f.coalesce("old.entity", "new.entity").alias("entity"),
        is_old.alias("is_old"),
        is_new.alias("is_new"),
        f.when(is_old & is_new, differing).otherwise(_no_texts()).alias("attributes"),
    )


def _diff_members(before: DataFrame, after: DataFrame) -> DataFrame:
    """Return each entity of which a record has come, gone or moved: `successors`, and whether one of them is new."""
    old, new = before.withColumnRenamed("entity", "old"), after.withColumnRenamed("entity", "new")
    known = before.select(f.col("entity").alias("new")).distinct().withColumn("is_known", f.lit(True))
    flows = (
        old.join(new, "record", "full")
        .select("old", "new")
        .distinct()
        .join(known, "new", "left")
        .select("old", "new", (f.col("new").isNotNull() & f.col("is_known").isNull()).alias("has_new"))
    )
    is_moved = ~f.col("old").eqNullSafe(f.col("new"))
    left = flows.where("old IS NOT NULL").select(
        f.col("old").alias("entity"), "new", "has_new", is_moved.alias("is_moved")
    )
    come = flows.where("new IS NOT NULL AND old IS DISTINCT FROM new").select(
        f.col("new").alias("entity"), f.lit(None).alias("new"), f.lit(False).alias("has_new"), is_moved
    )
    return (
        left.union(come)
        .groupBy("entity")
        .agg(
            f.array_sort(f.collect_set("new")).alias("successors"),
            f.max("has_new").alias("has_new"),
            f.max("is_moved").alias("is_moved"),
        )
    )


def _no_texts() -> Column:
    return f.array().cast("array<string>")
