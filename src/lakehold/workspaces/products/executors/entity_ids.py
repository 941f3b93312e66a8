"""Stable ids of entities: a cluster has the id of the entity of the last run that most of its records come from.

Each entity of the last run goes to the cluster with most of its records, and a cluster takes the one that brings most.
What takes part in this is local to a component, so it is the same whether all clusters are looked at or some. An entity
that a curator has verified keeps its id whatever its records are. All others get an id made from the run and their
smallest record, so that a step that is repeated makes the same ids, and none is used twice.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from lakehold.workspaces.products.entities.successors import RETIRING_CHANGES

PREFIX, DIGITS = "e", 20


def entity_id(run: str, record: Column) -> Column:
    """Return the id of an entity that a run makes, by its smallest record."""
    digest = f.sha2(f.concat_ws("\x1f", f.lit(run), record), 256)
    return f.concat(f.lit(PREFIX), f.substring(digest, 1, DIGITS))


def retired_ids(changes: DataFrame) -> DataFrame:
    """Return the ids that are retired (`entity`), of the changes of all runs."""
    retiring = f.col("change").isin(sorted(RETIRING_CHANGES)) & ~f.array_contains("successors", f.col("entity"))
    return changes.where(retiring).select("entity").distinct()


def assign_ids(
    clusters: DataFrame, groups: DataFrame, previous: DataFrame, retired: DataFrame, *, run: str
) -> DataFrame:
    """Return the members of entities: `record`, `entity`, `component` and `flag`.

    `groups` are those of `ConstraintTables`, `previous` the members of the last run, `retired` the ids that it or an
    earlier one has retired, which no cluster gets again.
    """
    known = groups.where("entity IS NOT NULL").select("record", "entity")
    verified = (
        known.join(clusters, "record").select("cluster", "entity").distinct().join(retired, "entity", "left_anti")
    )
    overlaps = (
        previous.select("record", "entity")
        .join(clusters.select("record", "cluster"), "record")
        .groupBy("entity", "cluster")
        .agg(f.count("*").alias("records"))
        .join(verified.select("entity"), "entity", "left_anti")
        .join(verified.select("cluster"), "cluster", "left_anti")
    )
    kept = _largest(_largest(overlaps, "entity", "cluster"), "cluster", "entity").select("cluster", "entity")
    return (
        clusters.join(kept.unionByName(verified), "cluster", "left")
        .withColumn("entity", f.coalesce("entity", entity_id(run, f.col("cluster"))))
        .select("record", "entity", "component", "flag")
    )


def _largest(overlaps: DataFrame, owner: str, other: str) -> DataFrame:
    """Return the largest overlap of each; of equal ones that with the smallest name."""
    best = overlaps.groupBy(owner).agg(f.min(f.struct((-f.col("records")).alias("less"), f.col(other))).alias("best"))
    return best.select(owner, f.col(f"best.{other}"), (-f.col("best.less")).alias("records"))
