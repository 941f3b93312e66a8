"""The reach of integrations: kinds that let tools in with tokens, an edge `reads` and an attribute `active`."""

from collections.abc import Sequence

from lakehold.catalog import resource_metadata
from lakehold.catalog.resource_view import attributes_of, edges_of
from lakehold.directory.request_context import RequestContext

READS, ACTIVE, OFF = "reads", "active", "false"


def is_active(ctx: RequestContext, uid: str) -> bool:
    """Return whether the integration is active."""
    return ctx.session.read_view(lambda view: attributes_of(view, uid).get(ACTIVE)) != OFF


def readable_ends(ctx: RequestContext, uid: str) -> Sequence[str]:
    """Return what the integration reads, as far as the author of that may read it."""
    ends, author = (
        ctx.session.read_view(lambda view: edges_of(view, uid)[READS]),
        resource_metadata.load_author(ctx, uid),
    )
    if author is None or not author.caller.member:
        return ends
    if ctx.view.ids.get(author.caller.member) is None:
        return ()
    return [end for end in ends if ctx.session.check(author.caller.principal, "read", end)]


def find_token_scope(ctx: RequestContext, number: int) -> Sequence[str] | None:
    """Return what a token of the integration reads, within the rights of its member; None if it is refused."""
    uid = ctx.view.uids.get(number)
    return readable_ends(ctx, uid) if uid is not None and is_active(ctx, uid) else None
