"""Delete a resource, and bring it back where that can be done."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http.dependencies import WriteContext
from lakehold.catalog import resources
from lakehold.web import addresses, pages
from lakehold.web.confirming import unsure
from lakehold.web.flashes import Flash
from lakehold.web.routes import Sent, router

routes = router("/resources")


@routes.post("/{uid:path}/delete")
def delete(request: Request, ctx: WriteContext, uid: str, sent: Sent) -> Response:
    """Delete it."""
    found = resources.get(ctx, uid)
    back = addresses.resource(uid)
    text = "Whatever was given on it ends with it. What others point at can be brought back."
    if question := unsure(request, sent, f"Delete {found.name}?", text, do="Delete", back=back):
        return question
    gone = resources.delete(ctx, uid)
    if gone:
        to = addresses.workspace(found.workspace.uid) if found.workspace and found.workspace.uid != uid else "/"
        return pages.go(request, to, Flash(f"{found.name} was deleted."))
    undo = f"{back}/restore" if resources.may_restore(ctx, uid) else ""
    told = Flash(f"{found.name} is deleted, and can be restored while others use it.", undo=undo)
    return pages.go(request, back if ctx.session.can_see(ctx.asker, uid) else "/", told)


@routes.post("/{uid:path}/restore")
def restore(request: Request, ctx: WriteContext, uid: str, sent: Sent) -> Response:
    """Bring it back; the form may say where from, for who does not see it."""
    resources.restore(ctx, uid)
    seen = ctx.session.can_see(ctx.asker, uid)
    there = addresses.resource(uid) if seen else pages.own_address(str(sent.get("back", "")))
    return pages.go(request, there, Flash("It is back."))
