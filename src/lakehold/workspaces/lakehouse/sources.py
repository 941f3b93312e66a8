"""Sources before they are run: who may look at one."""

from __future__ import annotations

from lakehold.access import Draft
from lakehold.directory.request_context import RequestContext
from lakehold.lake import readable_tables

KIND = "lakehouse.source"


def may_look(ctx: RequestContext, source: str, lakehouse: str, layer: str) -> None:
    """Refuse unless the caller may edit the source, or make one like this. Their own eyes only: it shows data."""
    readable_tables.refuse_impersonation(ctx)
    if source:
        ctx.need("edit", source)
        return
    ctx.need_visible(lakehouse)
    ctx.need_draft(Draft(KIND, {"lakehouse": lakehouse, "into": layer}))
