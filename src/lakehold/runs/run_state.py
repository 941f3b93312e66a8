"""The state that the last successful run of a resource left for the next one."""

from __future__ import annotations

import json
from collections.abc import Mapping

import sqlalchemy as sa

from lakehold.directory.request_context import RequestContext
from lakehold.runs import run_table as states
from lakehold.runs.run_table import run_step_table, run_table


def last_run_state(ctx: RequestContext, uid: str, step: int = 0) -> Mapping[str, object]:
    """Return the state that one step of the last successful run left. The caller's access was checked before."""
    c, each = run_table.c, run_step_table.c
    query = (
        sa.select(each.told)
        .join(run_table, c.n == each.run)
        .where(
            c.tenant_id == ctx.session.tenant,
            c.resource_id == ctx.view.resource(uid),
            c.state == states.SUCCEEDED,
            each.number == step,
        )
        .order_by(c.n.desc())
        .limit(1)
    )
    found = ctx.session.transaction.connection.execute(query).scalar()
    state: Mapping[str, object] = json.loads(found or "{}")
    return state
