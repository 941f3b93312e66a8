"""Fills the table of entities with golden records, notes what has changed, and saves the new version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from lakehold.lake.spark.guard.query_guard import QueryGuard
from lakehold.lake.spark.table_writer import WriteMode
from lakehold.runs.step_context import StepContext, StepResult
from lakehold.workspaces.products import versions
from lakehold.workspaces.products.curation import pair_queue
from lakehold.workspaces.products.curation.pair_queue import ScoredPair
from lakehold.workspaces.products.executors import run_constraints
from lakehold.workspaces.products.executors.aggregate_expressions import AggregateCompiler
from lakehold.workspaces.products.executors.entity_changes import EntityChange, diff_versions
from lakehold.workspaces.products.executors.golden_records import ConsolidationPlan, consolidate
from lakehold.workspaces.products.executors.product_run import ProductRun
from lakehold.workspaces.products.product_tables import ProductTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lakehold.workspaces.products.steps import ConsolidateEntities

NEWEST_TAG = "newest"
"""The tag of the snapshots of the newest version, from which it is published and the next run goes on."""


def fill_entities(step: ConsolidateEntities, step_ctx: StepContext) -> StepResult:
    """Make the golden record of each entity, and the version that they are of."""
    here = ProductRun(step, step_ctx)
    members = here.read(ProductTable.MEMBERS)
    overrides = run_constraints.load_overrides(here)
    entities = consolidate(here.read(ProductTable.RECORDS), members, _plan(here), overrides)
    step_ctx.check_stopped()
    written = here.write(ProductTable.ENTITIES, entities.sort("entity"), WriteMode.OVERWRITE)
    changes = _changes(here, members).withColumn("run", f.lit(here.run))
    here.write(ProductTable.CHANGES, changes, WriteMode.APPEND)
    counts = _count(here, written.total)
    snapshots = {table: here.snapshot(table) for table in ProductTable}
    here.tag(NEWEST_TAG, snapshots)
    uncertain = _uncertain_pairs(here, members)
    with step_ctx.platform.write(step_ctx.caller) as ctx:
        number = versions.save(ctx, step.product, here.run, snapshots, counts)
        waiting = pair_queue.replace_queue(ctx, step.product, here.run, uncertain)
    step_ctx.log(f"{waiting:,} uncertain pairs wait for an answer")
    step_ctx.log(f"Version {number} has {counts['entities']:,} entities of {counts['records']:,} records")
    return StepResult(written.total, written.size, state={"version": number, **counts})


def _plan(here: ProductRun) -> ConsolidationPlan:
    names = [each.name for each in here.settings.attributes]
    sources = [mapping.source for mapping in here.settings.sources]
    spark = here.tables.session
    guard = QueryGuard(spark, here.step_ctx.platform.settings.query_parts)
    compiler = AggregateCompiler(spark, guard, names)
    return ConsolidationPlan(here.settings.attributes, sources, compiler)


def _changes(here: ProductRun, members: DataFrame) -> DataFrame:
    """Return what differs from the version before; everything is new if there is none."""
    names = [each.name for each in here.settings.attributes]
    after = (members, here.read(ProductTable.ENTITIES))
    earlier = (here.read_before(ProductTable.MEMBERS), here.read_before(ProductTable.ENTITIES))
    if earlier[0] is None or earlier[1] is None:
        before = (members.limit(0), after[1].limit(0))
    else:
        there = earlier[1].columns
        added = [f.lit(None).cast("string").alias(name) for name in names if name not in there]
        before = (earlier[0], earlier[1].select("*", *added))
    return diff_versions(before, after, names)


def _count(here: ProductRun, entities: int) -> Mapping[str, int]:
    """Return the figures of the version."""
    mine = here.read(ProductTable.CHANGES).where(f.col("run") == here.run).groupBy("change").count().collect()
    found = {row["change"]: int(row["count"]) for row in mine}
    records = here.tables.current_metadata(here.places[ProductTable.RECORDS]).current
    return {
        "records": records.count("total-records") if records else 0,
        "entities": entities,
        **{change.value: found.get(change.value, 0) for change in EntityChange},
    }


def _uncertain_pairs(here: ProductRun, members: DataFrame) -> list[ScoredPair]:
    """Return the pairs whose answer is worth most: more than the queue takes, as some are decided already."""
    size = members.groupBy("entity").agg(f.count("*").alias("size"))
    sized = members.select("record", "entity").join(size, "entity")
    ends = [
        sized.select(*(f.col(name).alias(f"{name}_{end}") for name in ("record", "entity", "size"))) for end in "ab"
    ]
    p = f.col("probability")
    entropy = -p * f.log2(p) - (1 - p) * f.log2(1 - p)
    rows = (
        here.read(ProductTable.PAIRS)
        .where((p < here.settings.match.threshold) & (p > 0))
        .join(ends[0], "record_a")
        .join(ends[1], "record_b")
        .where("entity_a <> entity_b")
        .withColumn("size", f.col("size_a") + f.col("size_b"))
        .orderBy((entropy * f.col("size")).desc(), "record_a", "record_b")
        .limit(2 * pair_queue.MAX_PAIRS)
        .select("record_a", "record_b", "probability", "entity_a", "entity_b", "size")
    )
    return [ScoredPair(*row) for row in rows.collect()]
