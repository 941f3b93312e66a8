"""The audit log, to who may see it."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from lakehold.directory.request_context import RequestContext
from lakehold.ledger.audit import DONE, AuditFilter
from lakehold.runs.system.known import AUDIT, SEE_AUDIT

_MOST = 1_000_000
_AT_ONCE = 20_000
_CHANGES = ("before", "after")


def write(ctx: RequestContext, folder: Path) -> list[str]:
    """All of it, up to a million of the newest entries."""
    ctx.need(SEE_AUDIT, ctx.caller.tenant)
    file = folder / "audit.parquet"
    newest = ctx.audit.page(AuditFilter(), limit=1)
    lines = ctx.audit.export(AuditFilter(), after=max(0, newest[0].n - _MOST) if newest else 0)
    with pyarrow.parquet.ParquetWriter(file, AUDIT) as writer:
        while some := [_row(line) for line in islice(lines, _AT_ONCE)]:
            writer.write_table(pa.Table.from_pylist(some, AUDIT))
    return [str(file)]


def _row(line: str) -> dict[str, Any]:
    told = json.loads(line)
    changed = {name: json.dumps(told[name], ensure_ascii=False) for name in _CHANGES if name in told}
    plain = {name: told.get(name) or None for name in AUDIT.names if name not in _CHANGES}
    return {**plain, **changed, "outcome": told.get("outcome", DONE)}
