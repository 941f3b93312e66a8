"""Fills the table of members: which entity each record belongs to, under the acts of curators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakehold.lake.spark.table_writer import WriteMode
from lakehold.runs.step_context import StepContext, StepResult
from lakehold.workspaces.products.executors import run_constraints
from lakehold.workspaces.products.executors.clusters import ConstraintTables, cluster_records
from lakehold.workspaces.products.executors.entity_ids import assign_ids, retired_ids
from lakehold.workspaces.products.executors.product_run import ProductRun
from lakehold.workspaces.products.product_tables import ProductTable

if TYPE_CHECKING:
    from lakehold.workspaces.products.steps import ClusterRecords

_MEMBERS = "record string, entity string, component string, flag string"
_CHANGES = "entity string, change string, attributes array<string>, successors array<string>, run string"


def fill_members(step: ClusterRecords, step_ctx: StepContext) -> StepResult:
    """Put the records that are the same together, under the id of the entity that most of them were of."""
    here = ProductRun(step, step_ctx)
    session = here.tables.session
    records = here.read(ProductTable.RECORDS).select("record")
    constraints = ConstraintTables.create(records, run_constraints.load(here).resolve())
    clusters = cluster_records(
        records,
        here.read(ProductTable.PAIRS),
        constraints,
        threshold=here.settings.match.threshold,
        max_records=here.settings.clusters.max_records,
    )
    previous = here.read_before(ProductTable.MEMBERS)
    changes = here.read_before(ProductTable.CHANGES)
    members = assign_ids(
        clusters,
        constraints.groups,
        previous if previous is not None else session.createDataFrame([], _MEMBERS),
        retired_ids(changes if changes is not None else session.createDataFrame([], _CHANGES)),
        run=here.run,
    )
    step_ctx.check_stopped()
    # Sorted, so that the records of one entity lie together in the files.
    written = here.write(ProductTable.MEMBERS, members.sort("entity", "record"), WriteMode.OVERWRITE)
    return StepResult(written.total, written.size)
