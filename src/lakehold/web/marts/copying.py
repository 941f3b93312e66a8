"""The credentials of a storage or a destination are copied: asked first, written down, and shown once."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http.dependencies import WriteContext
from lakehold.catalog import credentials, resources
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER
from lakehold.web import addresses, once, pages
from lakehold.web.access import acting
from lakehold.web.actions import Action
from lakehold.web.confirming import unsure
from lakehold.web.flashes import Flash
from lakehold.web.once import Secret
from lakehold.web.routes import Sent, router

routes = router("/resources")


@routes.post("/{uid:path}/credentials/copy")
def copy(request: Request, ctx: WriteContext, uid: str, sent: Sent) -> Response:
    """Show them to who may copy them."""
    found, back = resources.get(ctx, uid), acting.home_of(ctx, uid)
    ctx.need(credentials.COPY, uid)
    text = "They are shown to you once. It is written down who copied them, and when."
    if question := unsure(request, sent, f"Copy the credentials of {found.name}?", text, do="Copy", back=back):
        return question
    copied = credentials.copy(ctx, uid)
    if not copied:
        return pages.go(request, back, Flash("It has no credentials.", tone="warn"))
    alone = len(copied) == 1
    label = next(iter(copied)).capitalize() if alone else "Credentials"
    told = next(iter(copied.values())) if alone else "; ".join(f"{name}: {each}" for name, each in copied.items())
    words = "Whoever has this can do what the platform does with it. Keep it where secrets are kept."
    hint = "It was written down that you copied it."
    return once.show(
        request, ctx.caller, Secret(f"Credentials of {found.name}", label, told, words, FOREVER, back, hint)
    )


def action(ctx: RequestContext, uid: str) -> Action:
    """To be shown where somebody would look for it."""
    here = addresses.resource(uid, "credentials/copy")
    question = "Copy the credentials? It is written down who copied them."
    return acting.actions_of(
        ctx, uid, {credentials.COPY: Action("Copy credentials", here, "post", "copy", confirm=question)}
    )[0]
