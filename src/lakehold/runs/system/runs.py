"""Runs that the asker may see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import sqlalchemy as sa

from lakehold.catalog import kinds
from lakehold.directory.request_context import RequestContext
from lakehold.runs.run_table import run_step_table, run_table
from lakehold.runs.runs import Run, Runs
from lakehold.runs.system.known import RUNS

_MOST = 100_000
_COUNTS = ("rows", "size", "bad")
_AS_THEY_ARE = (
    *("id", "resource", "kind", "state", "cause", "started_by", "error"),
    *("tries", "reload", "made_at", "started_at", "ended_at"),
)


def write(runs: Runs, ctx: RequestContext, folder: Path) -> list[str]:
    """Up to a hundred thousand of the newest."""
    counted = _counted(ctx)
    nothing = dict.fromkeys(_COUNTS, 0)
    rows = [{**_row(ctx, run), **counted.get(run.id, nothing)} for run in runs.page(ctx, limit=_MOST)]
    file = folder / "runs.parquet"
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows, RUNS), file)
    return [str(file)]


def _row(ctx: RequestContext, run: Run) -> dict[str, Any]:
    view = ctx.view
    workspace = kinds.workspace_of(view, run.resource)
    return {
        **{name: getattr(run, name) for name in _AS_THEY_ARE},
        "name": view.names.get(view.resource(run.resource)),
        "workspace": workspace if workspace and ctx.session.can_see(ctx.asker, workspace) else None,
    }


def _counted(ctx: RequestContext) -> dict[str, dict[str, int]]:
    """What the steps of each run did together."""
    steps = run_step_table.c
    sums = [sa.func.sum(steps[name]).label(name) for name in _COUNTS]
    query = (
        sa.select(run_table.c.id, *sums)
        .join(run_step_table, steps.run == run_table.c.n)
        .where(run_table.c.tenant_id == ctx.session.tenant)
        .group_by(run_table.c.id)
    )
    found = ctx.session.transaction.connection.execute(query).mappings()
    return {row["id"]: {name: int(row[name] or 0) for name in _COUNTS} for row in found}
