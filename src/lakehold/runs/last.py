"""What the last run that succeeded has told the next one."""

from __future__ import annotations

import json
from collections.abc import Mapping

import sqlalchemy as sa

from lakehold.directory.request_context import RequestContext
from lakehold.runs import run_table as states
from lakehold.runs.run_table import run_step_table, run_table


def told(ctx: RequestContext, uid: str, step: int = 0) -> Mapping[str, object]:
    """By one of its steps. Whether the caller may know it has been asked before."""
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
    said: Mapping[str, object] = json.loads(found or "{}")
    return said
