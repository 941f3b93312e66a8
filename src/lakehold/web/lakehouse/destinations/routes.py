"""New destinations, and changing them. One is tried out before it is kept, and can be at any time."""

from __future__ import annotations

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import CurrentPlatform, ReadContext
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.web import pages, urls
from lakehold.web.connections import delivery_form
from lakehold.web.cookies import Flash
from lakehold.web.lakehouse import forms, reaching
from lakehold.web.lakehouse.destinations import delivery, trying
from lakehold.web.lakehouse.destinations.delivery import Delivery
from lakehold.web.lakehouse.frames import need_lakehouse
from lakehold.web.lakehouse.sources import looking, sealed, tables
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.lakehouse import connection_access, volumes

new = router("/workspaces")
routes = router("/resources")


@new.get("/{uid:path}/pipelines/new/destination")
def new_form(request: Request, ctx: ReadContext, uid: str, to: str = "", table: str = "") -> Response:
    """How it sends is chosen first; then the form for that. The address may say what is sent."""
    need_lakehouse(ctx, uid)
    return Form(request, uid).page(ctx, delivery.blank(to, [table] if table else []))


@new.post("/{uid:path}/pipelines/new/destination")
def make(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Try it, and make it."""
    looking.reading(request).run(lambda ctx: need_lakehouse(ctx, uid))
    return _sent(Form(request, uid), platform, sent)


@routes.get("/{uid:path}/delivery")
def edit_form(request: Request, ctx: ReadContext, uid: str, to: str = "") -> Response:
    """The form with what it says now, without its secret."""
    found = reaching.need(ctx, uid, connection_access.DESTINATION_KIND)
    return Form(request, reaching.within(found), found).page(ctx, delivery.present(found, to))


@routes.post("/{uid:path}/delivery")
def edit(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Try it, and change it."""
    found = looking.reading(request).run(lambda ctx: reaching.need(ctx, uid, connection_access.DESTINATION_KIND))
    return _sent(Form(request, reaching.within(found), found), platform, sent)


@routes.post("/{uid:path}/delivery/try")
def try_out(request: Request, uid: str) -> Response:
    """Try it as it is kept."""
    found = looking.reading(request).run(lambda ctx: reaching.need(ctx, uid, connection_access.DESTINATION_KIND))
    filled = delivery.present(found)
    asked = {"destination": uid, "settings": dict(found.settings or {}), "volume": filled.volume}
    said, refused = trying.tried(request, asked)
    flash = Flash(said) if refused is None else Flash(str(refused), tone="bad")
    return pages.redirect(request, urls.resource(uid, "pipeline"), flash)


class Form(reaching.Form[Delivery]):
    """Of a destination."""

    kind, template, part = connection_access.DESTINATION_KIND, "lakehouse/delivery.html", "delivery"

    def about(self, ctx: RequestContext) -> dict[str, object]:
        """What only this form has."""
        writable = ctx.session.list(
            ctx.asker, "write", volumes.VOLUME_KIND, within=self.within, limit=tables.MOST
        ).items
        return {
            "ways": delivery.WAYS,
            "modes": delivery_form.WRITE_MODES,
            "shapes": delivery_form.FILE_FORMATS,
            "reads": forms.readable(ctx, self.within),
            "volumes": tables.named(ctx, writable),
        }


def _sent(form: Form, platform: Platform, sent: FormData) -> Response:
    """What becomes of a form: shown again, tried, or kept."""
    filled, do = delivery.sent(sent), str(sent.get("do", ""))
    secret, kept = sealed.filled(platform, looking.reading(form.request).run(lambda ctx: ctx.caller), sent)
    if wrong := filled.errors():
        return form.again(filled, kept, errors=wrong)
    secrets = {filled.credential: secret} if secret and filled.credential else {}
    if do == "test":
        said, refused = trying.tried(form.request, _asked(form, filled, secrets))
        if refused is not None:
            return form.refused(filled, kept, refused, delivery_form.error_field(refused, filled))
        return form.again(filled, kept, said=said)
    try:
        uid = form.keep(filled, secrets)
    except forms.MENDED as refusal:
        return form.refused(filled, kept, refusal)
    said = "Saved. It is so from the next run on." if form.found else f"{filled.name} was made. Run it to send."
    return pages.redirect(form.request, urls.resource(uid, "pipeline"), Flash(said))


def _asked(form: Form, filled: Delivery, secrets: dict[str, str]) -> dict[str, object]:
    there = {"destination": form.uid} if form.found else {"lakehouse": form.within}
    settings = filled.settings(form.found.settings if form.found else None)
    return {**there, "settings": settings, "reads": list(filled.reads), "volume": filled.volume, "secrets": secrets}
