"""The result of a query saved as a table: made with what the query really reads, and filled by a run."""

from __future__ import annotations

from collections.abc import Collection

from lakehold import workspaces
from lakehold.catalog import resources
from lakehold.directory.request_context import RequestContext
from lakehold.runs.runs import Run, Runs
from lakehold.workspaces.lakehouse.pipelines.pipeline import TABLE
from lakehold.workspaces.told import table_name


def save(ctx: RequestContext, layer: str, name: str, sql: str, reads: Collection[str]) -> tuple[str, Run]:
    """Make the table and begin to fill it. What the query reads, whoever understood it has told."""
    edges = {"layer": layer, "saved_from": sorted(reads)}
    uid = resources.create(ctx, TABLE, table_name(name), edges=edges, settings={"sql": sql})
    return uid, Runs(workspaces.runnables()).start(ctx, uid)
