"""Neighbours of a resource in the graph of edges."""

from __future__ import annotations

from lakehold.directory.request_context import RequestContext


def edge_targets(ctx: RequestContext, uid: str, edge: str) -> list[str]:
    """Return the resources that the edges of this name lead to."""
    return ctx.session.read_view(
        lambda view: [view.uid(target) for target in view.edges_out[edge].get(view.resource(uid)) or ()]
    )


def edge_sources(ctx: RequestContext, uid: str, edge: str) -> list[str]:
    """Return the resources whose edges of this name lead here."""
    return ctx.session.read_view(
        lambda view: [view.uid(source) for source in view.edges_in[edge].get(view.resource(uid)) or ()]
    )
