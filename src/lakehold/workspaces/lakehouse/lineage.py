"""Lineage of tables, volumes and pipelines; rows go through pipelines and streams."""

from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.lake.lineage import Lineage
from lakehold.workspaces.graph import edge_sources, edge_targets
from lakehold.workspaces.lakehouse.pipelines.base import LAYER_KIND
from lakehold.workspaces.lakehouse.pipelines.connections import STREAM_KIND

_PIPELINES = ("source", "stream", "query", "notebook", "history", "destination", "integration", "saved_query")


def writers(ctx: RequestContext, uid: str) -> tuple[list[ResourceRef], bool]:
    """Return the pipelines that write the table, and whether there are more that the caller may not see."""
    return LINEAGE.visible_refs(ctx, VisibleRefs(ctx), edge_sources(ctx, uid, "writes"))


def _upstream_ids(ctx: RequestContext, uid: str) -> list[str]:
    return [
        *edge_targets(ctx, uid, "reads"),
        *edge_sources(ctx, uid, "writes"),
        *edge_targets(ctx, uid, "saved_from"),
    ]


def _downstream_ids(ctx: RequestContext, uid: str) -> list[str]:
    """Return the next resources, visible or not. A source writes what its streams write."""
    streams = edge_sources(ctx, uid, "source")
    written = [end for each in (uid, *streams) for end in edge_targets(ctx, each, "writes")]
    # What data spaces register of it reads it there.
    registered = edge_sources(ctx, uid, "tables")
    return [*edge_sources(ctx, uid, "reads"), *written, *edge_sources(ctx, uid, "saved_from"), *registered]


def _show_source(ctx: RequestContext, visible: VisibleRefs, ref: ResourceRef) -> ResourceRef | None:
    """Return the source for a stream, where that is visible. A layer stands for a table that does not exist yet."""
    if ref.kind == STREAM_KIND:
        return visible.ref(next(iter(edge_targets(ctx, ref.uid, "source")), None)) or ref
    return None if ref.kind == LAYER_KIND else ref


LINEAGE = Lineage(
    upstream_ids=_upstream_ids,
    downstream_ids=_downstream_ids,
    representation=_show_source,
    no_upstream="No upstream. Sources, queries and histories write tables.",
    no_downstream="No downstream. Nothing known here depends on it.",
)
LINEAGE_BY_KIND = {f"lakehouse.{name}": LINEAGE for name in ("table", "volume", *_PIPELINES)}
"""The kinds that rows come from, go through or go into."""
