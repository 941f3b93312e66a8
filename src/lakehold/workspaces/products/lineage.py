"""Lineage of sources, data products and their tables."""

from lakehold.catalog import kinds
from lakehold.directory.request_context import RequestContext
from lakehold.lake.lineage import Lineage
from lakehold.workspaces.graph import edge_sources, edge_targets
from lakehold.workspaces.products.product_tables import list_tables
from lakehold.workspaces.products.settings import ENTITY_TABLE_KIND, PRODUCT_KIND, RECORD_TABLE_KIND


def _upstream_ids(ctx: RequestContext, uid: str) -> list[str]:
    if ctx.view.kind(ctx.view.resource(uid)) in {RECORD_TABLE_KIND, ENTITY_TABLE_KIND}:
        return [parent] if (parent := kinds.parent_of(ctx.view, uid)) else []
    return [*edge_targets(ctx, uid, "sources"), *edge_sources(ctx, uid, "destinations")]


def _downstream_ids(ctx: RequestContext, uid: str) -> list[str]:
    if ctx.view.kind(ctx.view.resource(uid)) == PRODUCT_KIND:
        return [*list_tables(ctx, uid).values(), *edge_targets(ctx, uid, "destinations")]
    return edge_sources(ctx, uid, "sources")


LINEAGE = Lineage(
    upstream_ids=_upstream_ids,
    downstream_ids=_downstream_ids,
    no_upstream="No upstream. Data products read sources.",
    no_downstream="No downstream. Nothing known here depends on it.",
)
LINEAGE_BY_KIND = {
    f"products.{name}": LINEAGE for name in ("source", "product", "record_table", "entity_table", "destination")
}
"""The kinds that rows come from, go through or go into."""
