"""Where the edges of a resource lead, and where those come from that lead to it."""

from __future__ import annotations

from lakehold.directory.request_context import RequestContext


def ends(ctx: RequestContext, uid: str, edge: str) -> list[str]:
    """Where the edges of this name lead."""
    return ctx.session.read_view(
        lambda view: [view.uid(end) for end in view.edges_out[edge].get(view.resource(uid)) or ()]
    )


def starts(ctx: RequestContext, uid: str, edge: str) -> list[str]:
    """Where the edges of this name that lead to it come from."""
    return ctx.session.read_view(
        lambda view: [view.uid(start) for start in view.edges_in[edge].get(view.resource(uid)) or ()]
    )
