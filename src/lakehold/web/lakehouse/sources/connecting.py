"""The connection of a source: the first step to a new one, and changing it later. It is tried before it is kept."""

from __future__ import annotations

from dataclasses import replace

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import CurrentPlatform, ReadContext
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.web import pages, urls
from lakehold.web.cookies import Flash
from lakehold.web.labels import format_count
from lakehold.web.lakehouse import forms, reaching
from lakehold.web.lakehouse.frames import need_lakehouse
from lakehold.web.lakehouse.sources import apis, connection, looking, sealed, steps, tables, troubles
from lakehold.web.lakehouse.sources.connection import Connection
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.lakehouse import connection_access, volumes

new = router("/workspaces")
routes = router("/resources")


@new.get("/{uid:path}/pipelines/new/source")
def new_form(request: Request, ctx: ReadContext, uid: str, connector: str = "", layer: str = "") -> Response:
    """What it reads from is chosen first; then the form for that."""
    need_lakehouse(ctx, uid)
    return Form(request, uid).page(ctx, connection.blank(connector, layer))


@new.post("/{uid:path}/pipelines/new/source")
def make(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Try it, and make it if it could be connected to."""
    looking.reading(request).run(lambda ctx: need_lakehouse(ctx, uid))
    return _sent(Form(request, uid), platform, sent)


@routes.get("/{uid:path}/connection")
def edit_form(request: Request, ctx: ReadContext, uid: str, connector: str = "") -> Response:
    """The form with what it says now, without its secrets."""
    found = need_source(ctx, uid)
    return Form(request, reaching.within(found), found).page(ctx, connection.present(found, connector))


@routes.post("/{uid:path}/connection")
def edit(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Try it, and change it."""
    found = looking.reading(request).run(lambda ctx: need_source(ctx, uid))
    return _sent(Form(request, reaching.within(found), found), platform, sent)


def need_source(ctx: RequestContext, uid: str) -> ResourceView:
    """The source, if the caller may edit it."""
    return reaching.need(ctx, uid, connection_access.SOURCE_KIND)


class Form(reaching.Form[Connection]):
    """Of a source: the first of the steps in which one is set up."""

    kind, template, part = connection_access.SOURCE_KIND, "lakehouse/connection.html", steps.CONNECT

    @property
    def setup(self) -> bool:
        """Whether it is not set up to its end."""
        return self.found is None or bool(self.request.query_params.get("setup"))

    @property
    def to(self) -> str:
        """Where it is sent."""
        return steps.page(self.found.uid, steps.CONNECT, setup=self.setup) if self.found else super().to

    def about(self, ctx: RequestContext) -> dict[str, object]:
        """What only this form has."""
        found = ctx.session.list(ctx.asker, "read", volumes.VOLUME_KIND, within=self.within, limit=tables.MOST).items
        return {
            "steps": steps.steps(steps.CONNECT, self.uid) if self.setup else [],
            "connectors": connection.CONNECTORS,
            "layers": [(each, name) for name, each in tables.layers(ctx, self.within).items()],
            "volumes": tables.named(ctx, found),
            "setup": self.setup,
        }


def _sent(form: Form, platform: Platform, sent: FormData) -> Response:
    """What becomes of a form: shown again, tried, or kept."""
    filled, do = connection.sent(sent), str(sent.get("do", ""))
    reading = looking.reading(form.request)
    secret, kept = sealed.filled(platform, reading.run(lambda ctx: ctx.caller), sent)
    if do == "more":
        return form.again(replace(filled, endpoints=[*filled.endpoints, dict.fromkeys(apis.PARTS, "")]), kept)
    if wrong := filled.errors(has_secret=bool(secret) or filled.credential in reading.run(form.secrets)):
        return form.again(filled, kept, errors=wrong)
    secrets = {filled.credential: secret} if secret and filled.credential else {}
    if do != "save":
        seen = _tried(form, filled, secrets)
        if seen.error is not None:
            return form.refused(filled, kept, seen.error, troubles.at(seen.error, filled))
        if do == "test":
            said = f"It can be reached: {format_count(len(seen.streams), 'stream')} found."
            return form.again(filled, kept, said=said)
    try:
        uid = form.keep(filled, secrets)
    except forms.MENDED as refusal:
        return form.refused(filled, kept, refusal)
    if form.setup:
        return pages.redirect(form.request, steps.at(uid, steps.STREAMS), Flash(f"{filled.name} is connected."))
    return pages.redirect(form.request, urls.resource(uid, "pipeline"), Flash("Saved. It is so from the next run on."))


def _tried(form: Form, filled: Connection, secrets: dict[str, str]) -> looking.Seen:
    there = {"source": form.uid} if form.found else {"lakehouse": form.within, "layer": filled.layer}
    before = form.found.settings if form.found else None
    return looking.look(form.request, {**there, "settings": filled.settings(before), "secrets": secrets})
