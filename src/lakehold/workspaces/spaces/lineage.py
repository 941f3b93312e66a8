"""Lineage of data tasks, their datasets and their connections."""

from lakehold.catalog import kinds
from lakehold.directory.request_context import RequestContext
from lakehold.lake.lineage import Lineage
from lakehold.workspaces.graph import edge_sources, edge_targets
from lakehold.workspaces.spaces.datasets import list_datasets
from lakehold.workspaces.spaces.settings import DATASET_KIND


def _upstream_ids(ctx: RequestContext, uid: str) -> list[str]:
    if ctx.view.kind(ctx.view.resource(uid)) == DATASET_KIND:
        return [parent] if (parent := kinds.parent_of(ctx.view, uid)) else []
    return [end for edge in ("reads", "sources", "tables", "marts") for end in edge_targets(ctx, uid, edge)]


def _downstream_ids(ctx: RequestContext, uid: str) -> list[str]:
    if ctx.view.kind(ctx.view.resource(uid)) == DATASET_KIND:
        return []
    found = [*edge_sources(ctx, uid, "reads"), *edge_sources(ctx, uid, "sources"), *edge_targets(ctx, uid, "targets")]
    return [*found, *edge_sources(ctx, uid, "uses"), *list_datasets(ctx, uid).values()]


LINEAGE = Lineage(
    upstream_ids=_upstream_ids,
    downstream_ids=_downstream_ids,
    no_upstream="No upstream. Tasks read data connections and other tasks.",
    no_downstream="No downstream. Nothing known here depends on it.",
)
LINEAGE_BY_KIND = {f"spaces.{name}": LINEAGE for name in ("task", "dataset", "connection")}
"""The kinds that rows come from, go through or go into."""
