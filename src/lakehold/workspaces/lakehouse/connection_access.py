"""Who may probe a source or test a destination of a lakehouse before it is saved."""

from collections.abc import Sequence

from lakehold.access import Draft
from lakehold.directory.request_context import RequestContext
from lakehold.workspaces.graph import need_connection

DESTINATION_KIND, SOURCE_KIND = "lakehouse.destination", "lakehouse.source"


def need_destination_check(
    ctx: RequestContext, destination: str, lakehouse: str, reads: Sequence[str], volume: str
) -> None:
    """Refuse unless the caller may edit the destination, or create one like this."""
    edges = {"lakehouse": lakehouse, "reads": list(reads), "writes": [volume] if volume else []}
    need_connection(ctx, destination, lakehouse, Draft(DESTINATION_KIND, edges))


def need_source_probe(ctx: RequestContext, source: str, lakehouse: str, layer: str) -> None:
    """Refuse unless the caller may edit the source, or create one like this."""
    need_connection(ctx, source, lakehouse, Draft(SOURCE_KIND, {"lakehouse": lakehouse, "into": layer}))
