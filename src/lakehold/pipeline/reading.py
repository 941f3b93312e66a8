"""Who may read rows at all, and where the rows of a table lie."""

from __future__ import annotations

from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ForbiddenError
from lakehold.pipeline.lake import Place


def refuse_viewer(ctx: RequestContext) -> None:
    """Who looks with another's eyes sees what that person may do, and none of their data."""
    refuse_behind(ctx.caller)


def refuse_behind(caller: Caller) -> None:
    """The same, where there is no work yet."""
    if caller.impersonator:
        raise ForbiddenError("Viewing as somebody else shows no data.", "Stop viewing as them to read rows.")


def place_of(ctx: RequestContext, uid: str) -> Place:
    """Where a table lies. Whether the caller may read it has been asked before."""
    return Place(ctx.session.tenant, ctx.view.resource(uid))
