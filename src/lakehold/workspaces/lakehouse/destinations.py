"""Destinations before they are run: who may try one out."""

from __future__ import annotations

from collections.abc import Sequence

from lakehold.access import Draft
from lakehold.directory.request_context import RequestContext
from lakehold.lake import readable_tables

KIND = "lakehouse.destination"


def may_try(ctx: RequestContext, destination: str, lakehouse: str, reads: Sequence[str], volume: str) -> None:
    """Refuse unless the caller may edit the destination, or make one like this. It asks somebody else something, so it
    is nothing for who looks with another's eyes.
    """
    readable_tables.refuse_impersonation(ctx)
    if destination:
        ctx.need("edit", destination)
        return
    ctx.need_visible(lakehouse)
    edges = {"lakehouse": lakehouse, "reads": list(reads), "writes": [volume] if volume else []}
    ctx.need_draft(Draft(KIND, edges))
