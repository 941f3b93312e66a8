"""The records whose entity can be another one after some have changed: all others keep theirs without being looked at.

A component is the same as long as none of its records, links or constraints has changed. So what can change are the
components in which a touched record was, and those that it is linked to now.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from lakehold.workspaces.products.entities.constraints import ResolvedConstraints
from lakehold.workspaces.products.executors.clusters import create_texts


def find_affected(
    touched: DataFrame, pairs: DataFrame, constraints: ResolvedConstraints, previous: DataFrame, *, threshold: float
) -> DataFrame:
    """Return the affected records (`record`), gone ones too.

    `touched` are the records that are new, changed or deleted since the last run, and those of constraints that were
    made or undone; `previous` are the members that it made.
    """
    links = pairs.where(f.col("probability") >= threshold)
    neighbours = [
        links.join(touched.select(f.col("record").alias(one)), one, "left_semi").select(f.col(other).alias("record"))
        for one, other in (("record_a", "record_b"), ("record_b", "record_a"))
    ]
    related = create_texts(touched.sparkSession, ("record", "acts"), constraints.related.items())
    acts = related.join(touched, "record", "left_semi").select("acts").distinct()
    seeds = touched.select("record").union(related.join(acts, "acts", "left_semi").select("record"))
    for each in neighbours:
        seeds = seeds.union(each)
    seeds = seeds.distinct().localCheckpoint()
    components = previous.join(seeds, "record", "left_semi").select("component").distinct()
    return previous.join(components, "component", "left_semi").select("record").union(seeds).distinct()


def restrict_records(rows: DataFrame, affected: DataFrame) -> DataFrame:
    """Return the rows of affected records."""
    return rows.join(affected, "record", "left_semi")


def restrict_pairs(pairs: DataFrame, affected: DataFrame) -> DataFrame:
    """Return the pairs of affected records: a link to another one is always below the threshold."""
    first = affected.withColumnRenamed("record", "record_a")
    second = affected.withColumnRenamed("record", "record_b")
    return pairs.join(first, "record_a", "left_semi").join(second, "record_b", "left_semi")


def replace_members(previous: DataFrame, affected: DataFrame, members: DataFrame) -> DataFrame:
    """Return all members: those that were computed anew, and those of records that are not affected."""
    kept = previous.join(affected, "record", "left_anti")
    return kept.select(*members.columns).union(members)
