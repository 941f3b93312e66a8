"""Let a resource lie elsewhere, with the effect shown before."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import kinds, resource_edit, resources
from lakehold.kit.errors import ConflictError
from lakehold.web import addresses, pages
from lakehold.web.access import acting
from lakehold.web.effects import Asking, ask_first, told
from lakehold.web.flashes import Flash
from lakehold.web.resources import fields
from lakehold.web.routes import Sent, router

routes = router("/resources")


@routes.get("/{uid:path}/move")
def move_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Ask where to."""
    found = resources.get(ctx, uid)
    schema = kinds.catalog_kind(ctx.view.policy, found.kind)
    if schema.parent is None or schema.edges[schema.parent].set_with is None:
        raise ConflictError(f"A {schema.title.lower()} stays where it is.", "Make a new one there.")
    here = [found.parent.uid] if found.parent else []
    places = next(each for each in fields.pointers(ctx, schema, {schema.parent: here}) if each.name == schema.parent)
    return pages.page(
        request, "resources/move.html", {"crumbs": acting.crumbs(ctx, uid, "Move"), "found": found, "places": places}
    )


@routes.post("/{uid:path}/move")
def move(request: Request, ctx: WriteContext, uid: str, sent: Sent) -> Response:
    """Show who wins and loses what by it, then move it."""
    found = resources.get(ctx, uid)
    to = str(sent.get("to", ""))
    effect = resource_edit.preview_reparent(ctx, uid, to)
    title = f"Move {found.name} to {ctx.view.names.get(ctx.view.resource(to))}?"
    asking = Asking(title, do="Move", back=addresses.resource(uid, "move"))
    if question := ask_first(request, sent, asking, lambda: told(ctx.view.policy, effect)):
        return question
    resource_edit.reparent(ctx, uid, to)
    return pages.go(request, addresses.resource(uid), Flash(f"{found.name} was moved."))
