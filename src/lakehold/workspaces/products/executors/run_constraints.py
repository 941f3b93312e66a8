"""The acts of curators as a run needs them: links, parted pairs, verified groups, and values that were overridden."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from lakehold.workspaces.products.curation import act_log
from lakehold.workspaces.products.curation.constraints import build_constraints, current_overrides
from lakehold.workspaces.products.curation.entity_lookup import TableEntities, load_successors
from lakehold.workspaces.products.entities.constraints import CuratorConstraints, RecordLink, VerifiedGroup
from lakehold.workspaces.products.executors.clusters import create_texts
from lakehold.workspaces.products.product_tables import ProductTable

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pyspark.sql import DataFrame

    from lakehold.workspaces.products.executors.product_run import ProductRun


def load(here: ProductRun) -> CuratorConstraints:
    """Return the constraints of the acts in force."""
    with here.step_ctx.platform.read(here.step_ctx.caller) as ctx:
        acts = act_log.load_in_force(ctx, here.step.product)
    named = {each.entity for each in build_constraints(acts).verified}
    found = build_constraints(acts, _earlier_successors(here, named))
    return CuratorConstraints(
        [RecordLink(each.order, each.record_a, each.record_b) for each in found.linked],
        [RecordLink(each.order, each.record_a, each.record_b) for each in found.parted],
        [VerifiedGroup(each.order, each.entity, each.records) for each in found.verified],
    )


def load_overrides(here: ProductRun) -> DataFrame:
    """Return the values that curators have set, at the entities that there are now: `entity`, `attribute`, `value`."""
    with here.step_ctx.platform.read(here.step_ctx.caller) as ctx:
        acts = act_log.load_in_force(ctx, here.step.product)
    named = {each.entity for each in build_constraints(acts).overrides}
    successors = {**_earlier_successors(here, named), **_new_successors(here, named)}
    found = current_overrides(acts, successors)
    rows = [(entity, name, value) for entity, values in found.items() for name, value in values.items()]
    return create_texts(here.tables.session, ("entity", "attribute", "value"), rows)


def _earlier_successors(here: ProductRun, entities: Collection[str]) -> dict[str, Sequence[str]]:
    """Return the successors of those of the entities that earlier runs have retired."""
    lake = here.tables.lake
    tables = (ProductTable.MEMBERS, ProductTable.ENTITIES, ProductTable.CHANGES)
    locations = [lake.metadata_location(here.places[table]) or "" for table in tables]
    return load_successors(TableEntities(*locations), entities) if entities else {}


def _new_successors(here: ProductRun, entities: Collection[str]) -> dict[str, Sequence[str]]:
    """Return, for those of the entities that this run retires, the ones that have their records now."""
    before = here.read_before(ProductTable.MEMBERS)
    if before is None or not entities:
        return {}
    old = before.where(f.col("entity").isin(sorted(entities))).select("record", f.col("entity").alias("old"))
    flows = old.join(here.read(ProductTable.MEMBERS), "record").groupBy("old", "entity").count().collect()
    found: dict[str, list[tuple[int, str]]] = {}
    for flow in flows:
        found.setdefault(flow["old"], []).append((-flow["count"], flow["entity"]))
    parts = {entity: [name for _, name in sorted(ends)] for entity, ends in found.items()}
    return {entity: ends for entity, ends in parts.items() if entity not in ends}
