"""Who may probe a source or test a destination of a lakehouse before it is saved."""

from __future__ import annotations

from collections.abc import Sequence

from lakehold.access import Draft
from lakehold.directory.request_context import RequestContext
from lakehold.lake import readable_tables

DESTINATION_KIND = "lakehouse.destination"


def need_destination_check(
    ctx: RequestContext, destination: str, lakehouse: str, reads: Sequence[str], volume: str
) -> None:
    """Refuse unless the caller may edit the destination, or create one like this.

    It contacts another system, so members who view as somebody else are refused.
    """
    readable_tables.refuse_impersonation(ctx)
    if destination:
        ctx.need("edit", destination)
        return
    ctx.need_visible(lakehouse)
    edges = {"lakehouse": lakehouse, "reads": list(reads), "writes": [volume] if volume else []}
    ctx.need_draft(Draft(DESTINATION_KIND, edges))


SOURCE_KIND = "lakehouse.source"


def need_source_probe(ctx: RequestContext, source: str, lakehouse: str, layer: str) -> None:
    """Refuse unless the caller may edit the source, or create one like this.

    It shows data, so members who view as somebody else are refused.
    """
    readable_tables.refuse_impersonation(ctx)
    if source:
        ctx.need("edit", source)
        return
    ctx.need_visible(lakehouse)
    ctx.need_draft(Draft(SOURCE_KIND, {"lakehouse": lakehouse, "into": layer}))
