"""Clusters of records that are the same, from the pairs that matching found and what curators have said.

Links become connected components in Python workers: those of each partition first, which leaves at most one link for
each record, then all in one task (docs/decisions/0029-components-in-one-task.md). Components that are too large, or
that hold what must not be together, are cut at their weakest links, each by itself.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as f

from lakehold.lake.row_formats import quote_identifier
from lakehold.workspaces.products.entities.components import find_components
from lakehold.workspaces.products.entities.constraints import ResolvedConstraints
from lakehold.workspaces.products.entities.splits import RowKind, split_component

MAX_LINKS = 2_000_000
"""The links of a component that count when it is cut, the strongest ones; so it fits into the memory of a task."""
_LABELS = "record string, component string"
_PARTS = "record string, cluster string, flag string"
_ROWS = ("component", "kind", "one", "other", "weight")
_BATCH = 50_000


@dataclass(frozen=True, slots=True)
class ConstraintTables:
    """The constraints of curators as small tables, of the records that there are."""

    groups: DataFrame
    """`record`, `group` and `entity`: that of a verified group, as far as it has one."""
    apart: DataFrame
    """`one` and `other`: groups."""
    verified: DataFrame
    """`group`."""

    @classmethod
    def create(cls, records: DataFrame, constraints: ResolvedConstraints) -> "ConstraintTables":
        """Return what holds of the constraints for these records."""
        spark, entities = records.sparkSession, constraints.entities
        groups = [(record, group, entities.get(group)) for record, group in constraints.groups.items()]
        known = create_texts(spark, ("record", "group", "entity"), groups)
        return cls(
            records.select("record").join(f.broadcast(known), "record"),
            create_texts(spark, ("one", "other"), sorted(constraints.apart)),
            create_texts(spark, ("group",), [(group,) for group in sorted(constraints.verified)]),
        )


def cluster_records(
    records: DataFrame, pairs: DataFrame, constraints: ConstraintTables, *, threshold: float, max_records: int
) -> DataFrame:
    """Return the cluster of each record: `record`, `component`, `cluster` and `flag`.

    Component and cluster are named by their smallest record. A pair without a weight is one of equal records.
    """
    links = pairs.where(f.col("probability") >= threshold).select("record_a", "record_b", "weight")
    groups = constraints.groups.localCheckpoint()
    smallest = groups.groupBy("group").agg(f.min("record").alias("smallest"))
    stars = groups.join(smallest, "group").where("record <> smallest").select("record", "smallest")
    components = _label(links.select("record_a", "record_b").union(stars)).localCheckpoint()
    grouped = _with_component(groups, components)
    broken = _find_broken(components, grouped, constraints, max_records)
    rows = _rows_of(broken, links, components, grouped, constraints)

    def split_rows(of_component: pa.Table) -> pa.Table:
        return split_component(of_component, max_records)

    split = rows.groupBy("component").applyInArrow(split_rows, _PARTS)
    return (
        _with_component(records.select("record"), components)
        .join(split, "record", "left")
        .select("record", "component", f.coalesce("cluster", "component").alias("cluster"), "flag")
    )


def _label(links: DataFrame) -> DataFrame:
    """Return the component of each record that a link leads to."""
    # A table is read in as many parts as it has files, which may be one for all cores.
    width = links.sparkSession.sparkContext.defaultParallelism
    spread = links.repartition(width).mapInArrow(_label_batches, _LABELS)
    return spread.repartition(1).mapInArrow(_label_batches, _LABELS)


def _label_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    some = list(batches)
    if some:
        yield from find_components(pa.Table.from_batches(some)).to_batches(_BATCH)


def _with_component(rows: DataFrame, components: DataFrame) -> DataFrame:
    """Add the component of each record; one without links is its own."""
    found = rows.join(components, "record", "left")
    return found.withColumn("component", f.coalesce("component", "record"))


def _find_broken(
    components: DataFrame, grouped: DataFrame, constraints: ConstraintTables, max_records: int
) -> DataFrame:
    """Return the components that are to be cut."""
    large = components.groupBy("component").count().where(f.col("count") > max_records)
    place = grouped.select("group", "component").distinct()
    verified = place.join(constraints.verified, "group").groupBy("component").count().where("count > 1")
    one = place.select(f.col("group").alias("one"), f.col("component"))
    other = place.select(f.col("group").alias("other"), f.col("component"))
    apart = constraints.apart.join(one, "one").join(other, ["other", "component"])
    found = [each.select("component") for each in (large, verified, apart)]
    return found[0].union(found[1]).union(found[2]).distinct().localCheckpoint()


def _rows_of(
    broken: DataFrame, links: DataFrame, components: DataFrame, grouped: DataFrame, constraints: ConstraintTables
) -> DataFrame:
    """Return what there is to know of each component that is to be cut, as rows of all kinds."""
    members = components.join(broken, "component", "left_semi").withColumnRenamed("record", "record_a")
    strength = [f.col("weight").desc_nulls_first(), f.col("record_a"), f.col("record_b")]
    ranked = links.join(members, "record_a").withColumn(
        "rank", f.row_number().over(Window.partitionBy("component").orderBy(*strength))
    )
    found = _row(ranked.where(f.col("rank") <= MAX_LINKS), RowKind.LINK, "record_a", "record_b", f.col("weight"))
    inside = grouped.join(broken, "component", "left_semi")
    place = inside.select("component", "group").distinct()
    verified = place.join(constraints.verified, "group")
    apart = constraints.apart.join(place.withColumnRenamed("group", "one"), "one")
    for rows, kind, one, other in (
        (members, RowKind.RECORD, "record_a", "record_a"),
        (inside, RowKind.GROUP, "record", "group"),
        (verified, RowKind.VERIFIED, "group", "group"),
        (apart, RowKind.APART, "one", "other"),
    ):
        found = found.union(_row(rows, kind, one, other))
    return found


def _row(rows: DataFrame, kind: RowKind, one: str, other: str, weight: Column | None = None) -> DataFrame:
    empty = f.lit(None).cast("double")
    columns = (f.col("component"), f.lit(kind.value), f.col(one), f.col(other), empty if weight is None else weight)
    return rows.select(*(column.alias(name) for column, name in zip(columns, _ROWS, strict=True)))


def create_texts(spark: SparkSession, names: Sequence[str], rows: Iterable[tuple[str | None, ...]]) -> DataFrame:
    """Return a small table whose columns are texts."""
    schema = ", ".join(f"{quote_identifier(name)} string" for name in names)
    return spark.createDataFrame(list(rows), schema, verifySchema=False)
