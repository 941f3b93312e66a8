"""A report is pulled as whoever last saved it; somebody else takes that over without changing anything else."""

from __future__ import annotations

from lakehold.catalog import resource_metadata
from lakehold.directory.request_context import RequestContext
from lakehold.workspaces.marts import nouns


def take_over(ctx: RequestContext, report: str) -> None:
    """From now on it is pulled as the caller, who may edit it and run it."""
    ctx.need_writable()
    nouns.need(ctx, report, nouns.REPORT, "edit")
    ctx.need("run", report)
    before = resource_metadata.last_editor(ctx, report)
    resource_metadata.save(ctx, report)
    ctx.note("take over", report, before={"saved_by": before.member if before else ""})
