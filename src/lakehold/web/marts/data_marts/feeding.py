"""The form of a data mart that a connector of its own feeds: a new one, and changing it. Tried before it is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, get_platform
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError
from lakehold.web import pages, urls
from lakehold.web.cookies import Flash
from lakehold.web.labels import format_count
from lakehold.web.lakehouse import forms
from lakehold.web.lakehouse.reaching import within
from lakehold.web.lakehouse.sources import apis, looking, sealed, troubles
from lakehold.web.lakehouse.sources.looking import Seen
from lakehold.web.marts import reaching
from lakehold.web.marts.data_marts import fed, form, offers
from lakehold.web.marts.data_marts.fed import Fed
from lakehold.web.marts.data_marts.routes import need_edit, need_project
from lakehold.web.marts.looking import grid
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.marts import mart_probe
from lakehold.workspaces.marts import mart_probe as of_storages
from lakehold.workspaces.marts.definitions import DATA_MART_LABEL, MartDefinition
from lakehold.workspaces.marts.mart_kinds import DATA_MART_KIND
from lakehold.workspaces.marts.mart_probe import FeedProbeTarget
from lakehold.workspaces.settings_reader import SettingsReader

new = router("/workspaces")
routes = router("/resources")


@new.get("/{uid:path}/marts/fed")
def new_form(request: Request, ctx: ReadContext, uid: str, connector: str = "", storage: str = "") -> Response:
    """What it reads from is chosen first; then the form for that."""
    need_project(ctx, uid)
    return Form(request, uid).page(ctx, fed.blank(connector, storage))


@new.post("/{uid:path}/marts/fed")
def make(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Try it, and make it."""
    looking.reading(request).run(lambda ctx: need_project(ctx, uid))
    return _sent(Form(request, uid), platform, sent)


@routes.get("/{uid:path}/mart/feed")
def edit_form(request: Request, ctx: ReadContext, uid: str, connector: str = "") -> Response:
    """The form with what it says now, without its secrets."""
    found = need_edit(ctx, uid)
    return Form(request, within(found), found).page(ctx, fed.present(found, connector))


@routes.post("/{uid:path}/mart/feed")
def edit(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Try it, and change it."""
    found = looking.reading(request).run(lambda ctx: need_edit(ctx, uid))
    return _sent(Form(request, within(found), found), platform, sent)


class Form(reaching.Form[Fed]):
    """Of a data mart, as far as it is fed."""

    kind, template = DATA_MART_KIND, "marts/feed_form.html"
    seen = Seen()
    """What a trial has found."""

    @property
    def to(self) -> str:
        """Where it is sent."""
        return urls.resource(self.uid, "mart/feed") if self.found else urls.workspace(self.within, "marts/fed")

    def heading(self) -> tuple[str, str]:
        """What stands last in the path to it, and above it."""
        return ("Connection", f"Connection of {self.found.name}") if self.found else ("New data mart", "New data mart")

    def about(self, ctx: RequestContext) -> dict[str, object]:
        """What only this form has."""
        rows = of_storages.StorageProbeResult(
            fields=self.seen.found.get("fields", ()), rows=self.seen.found.get("rows", ())
        )
        return {
            "kinds": fed.KINDS,
            "modes": form.MODES_SAID,
            "storages": [(each.uid, each.name) for each in offers.storages(ctx, self.within)],
            "streams": [str(each["name"]) for each in self.seen.streams],
            "grid": grid(rows),
        }

    def look(self, filled: Fed, secrets: Mapping[str, str], stream: str = "") -> Seen:
        """Look, as the caller. Whether they may is no part of what is seen: it is refused."""
        settings = filled.settings(self.found.settings if self.found else None)
        asked = FeedProbeTarget(settings, self.uid, self.within, secrets, stream)

        def let_in(ctx: RequestContext) -> Caller:
            mart_probe.need_feed_probe(ctx, asked)
            return ctx.caller

        caller = looking.reading(self.request).run(let_in)
        try:
            return Seen(mart_probe.probe_feed(get_platform(self.request), caller, asked))
        except LakeholdError as error:
            return Seen(error=error)


def _sent(shown: Form, platform: Platform, sent: FormData) -> Response:
    """What becomes of a form: shown again, tried, or kept."""
    filled, do = fed.sent(sent), str(sent.get("do", ""))
    reading = looking.reading(shown.request)
    secret, kept = sealed.filled(platform, reading.run(lambda ctx: ctx.caller), sent)
    if do == "more":
        more = [*filled.endpoints, dict.fromkeys(apis.PARTS, "")]
        return shown.again(replace(filled, reach=replace(filled.reach, endpoints=more)), kept)
    has_secret = bool(secret) or filled.credential in reading.run(shown.secrets)
    if wrong := filled.errors(has_secret=has_secret, is_new=shown.found is None):
        return shown.again(filled, kept, errors=wrong)
    secrets = {filled.credential: secret} if secret and filled.credential else {}
    if do != "save":
        shown.seen = shown.look(filled, secrets, filled.stream)
        if shown.seen.error is not None:
            return shown.refused(filled, kept, shown.seen.error, _place(shown.seen.error, filled))
        if wrong := _wrong(filled, shown.seen.found):
            return shown.again(filled, kept, errors=wrong)
        if do == "test":
            return shown.again(filled, kept, said=_said(shown.seen))
    try:
        uid = shown.keep(filled, secrets)
    except forms.MENDED as refusal:
        return shown.refused(filled, kept, refusal)
    words = "Saved. It is so from the next refresh on."
    made = f"{filled.name} was made. Refresh it to draw its rows."
    return pages.redirect(shown.request, urls.resource(uid, "mart"), Flash(words if shown.found else made))


def _wrong(filled: Fed, seen: Mapping[str, Any]) -> dict[str, str]:
    """What a sample shows to be wrong; without a stream there is none, and nothing can be drawn."""
    if not filled.stream:
        there = ", ".join(str(each["name"]) for each in list(seen.get("streams", ()))[:10])
        return {"stream": f"Choose what it draws: {there}." if there else "There is nothing that it could draw."}
    return of_storages.definition_errors(
        MartDefinition.from_settings(SettingsReader(filled.settings(), DATA_MART_LABEL)), seen.get("fields", ())
    )


def _place(error: LakeholdError, filled: Fed) -> str:
    """The field that an error of a look is about."""
    return "stream" if error.message.startswith("There is no ") else troubles.at(error, filled.reach)


def _said(seen: Seen) -> str:
    return f"It can be reached, and gives {format_count(len(seen.found.get('fields', ())), 'field')}."
