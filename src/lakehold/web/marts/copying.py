"""The credentials of a storage or a destination are copied: asked first, written down, and shown once."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http.dependencies import WriteContext
from lakehold.catalog import credentials, resources
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER
from lakehold.web import one_time_secret, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.confirmation import confirm
from lakehold.web.cookies import Flash
from lakehold.web.one_time_secret import OneTimeSecret
from lakehold.web.routing import SubmittedForm, router

routes = router("/resources")


@routes.post("/{uid:path}/credentials/copy")
def copy(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Show them to who may copy them."""
    found, back = resources.get(ctx, uid), resource_header.overview_url(ctx, uid)
    ctx.need(credentials.COPY, uid)
    text = "They are shown to you once. It is written down who copied them, and when."
    if question := confirm(request, sent, f"Copy the credentials of {found.name}?", text, do="Copy", back=back):
        return question
    copied = credentials.copy(ctx, uid)
    if not copied:
        return pages.redirect(request, back, Flash("It has no credentials.", tone="warn"))
    alone = len(copied) == 1
    label = next(iter(copied)).capitalize() if alone else "Credentials"
    told = next(iter(copied.values())) if alone else "; ".join(f"{name}: {each}" for name, each in copied.items())
    words = "Whoever has this can do what the platform does with it. Keep it where secrets are kept."
    hint = "It was written down that you copied it."
    return one_time_secret.redirect_to_secret(
        request, ctx.caller, OneTimeSecret(f"Credentials of {found.name}", label, told, words, FOREVER, back, hint)
    )


def action(ctx: RequestContext, uid: str) -> PageAction:
    """To be shown where somebody would look for it."""
    here = urls.resource(uid, "credentials/copy")
    question = "Copy the credentials? It is written down who copied them."
    return resource_header.actions_of(
        ctx, uid, {credentials.COPY: PageAction("Copy credentials", here, "post", "copy", confirm=question)}
    )[0]
