"""New destinations, and changing them. One is tried out before it is kept, and can be at any time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request, Response

from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, get_platform
from lakehold.catalog import kinds, resources, workspaces
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.runs import worker_client
from lakehold.web import kind_pages, pages
from lakehold.web.connections import delivery_form
from lakehold.web.cookies import Flash
from lakehold.web.lakehouse import forms
from lakehold.web.lakehouse.reaching import within
from lakehold.web.lakehouse.sources import looking, sealed
from lakehold.web.marts import reaching
from lakehold.web.marts.destinations import destination
from lakehold.web.marts.destinations.destination import Destination
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.marts import destinations, mart_kinds

new = router("/workspaces")
routes = router("/resources")


@new.get("/{uid:path}/destinations/new")
def new_form(request: Request, ctx: ReadContext, uid: str, to: str = "") -> Response:
    """How it sends is chosen first; then the form for that."""
    need_project(ctx, uid)
    return Form(request, uid).page(ctx, destination.blank(to))


@new.post("/{uid:path}/destinations/new")
def make(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Make it, or try it first."""
    looking.reading(request).run(lambda ctx: need_project(ctx, uid))
    return _sent(Form(request, uid), platform, sent)


@routes.get("/{uid:path}/destination/edit")
def edit_form(request: Request, ctx: ReadContext, uid: str, to: str = "") -> Response:
    """The form with what it says now, without its secret."""
    found = need_edit(ctx, uid)
    return Form(request, within(found), found).page(ctx, destination.present(found, to))


@routes.post("/{uid:path}/destination/edit")
def edit(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Change it, or try it first."""
    found = looking.reading(request).run(lambda ctx: need_edit(ctx, uid))
    return _sent(Form(request, within(found), found), platform, sent)


@routes.post("/{uid:path}/destination/try")
def try_out(request: Request, uid: str) -> Response:
    """Try it as it is kept."""
    found = looking.reading(request).run(lambda ctx: need_edit(ctx, uid))
    asked = {"destination": uid, "project": within(found), "settings": dict(found.settings or {})}
    said, refused = _tried(request, asked)
    flash = Flash(said) if refused is None else Flash(str(refused), tone="bad")
    return pages.redirect(request, kind_pages.resource_overview_url(uid, mart_kinds.DESTINATION_KIND), flash)


class Form(reaching.Form[Destination]):
    """Of a destination."""

    kind, template = mart_kinds.DESTINATION_KIND, "marts/destination_form.html"

    def about(self, ctx: RequestContext) -> dict[str, object]:
        """What only this form has."""
        del ctx
        return {"ways": destination.WAYS, "modes": delivery_form.WRITE_MODES, "shapes": delivery_form.FILE_FORMATS}


def need_project(ctx: RequestContext, uid: str) -> None:
    """Refuse what is no project of marts."""
    workspaces.need_workspace(ctx, uid)
    if kinds.schema_of(ctx.view, uid).id != mart_kinds.PROJECT_KIND:
        raise NotFoundError(f"There is no project {quote(uid)}.", "Look its name up among the workspaces.")


def need_destination(ctx: RequestContext, uid: str) -> ResourceView:
    """The destination, as the caller may see it."""
    found = resources.get(ctx, uid)
    if found.kind != mart_kinds.DESTINATION_KIND:
        raise NotFoundError(f"There is no destination {quote(uid)}.", "Look its name up in the project.")
    return found


def need_edit(ctx: RequestContext, uid: str) -> ResourceView:
    """The destination, if the caller may change it."""
    found = need_destination(ctx, uid)
    ctx.need("edit", uid)
    return found


def _sent(form: Form, platform: CurrentPlatform, sent: SubmittedForm) -> Response:
    """What becomes of a form: shown again, tried, or kept."""
    filled, reading = destination.sent(sent), looking.reading(form.request)
    secret, kept = sealed.filled(platform, reading.run(lambda ctx: ctx.caller), sent)
    if wrong := filled.errors(has_secret=bool(secret) or filled.credential in reading.run(form.secrets)):
        return form.again(filled, kept, errors=wrong)
    secrets = {filled.credential: secret} if secret and filled.credential else {}
    if str(sent.get("do", "")) == "test":
        said, refused = _tried(form.request, _asked(form, filled, secrets))
        if refused is not None:
            return form.refused(filled, kept, refused, delivery_form.error_field(refused, filled))
        return form.again(filled, kept, said=said)
    try:
        uid = form.keep(filled, secrets)
    except forms.MENDED as refusal:
        return form.refused(filled, kept, refusal)
    said = "Saved. It is so from the next report on." if form.found else f"{filled.name} was made."
    return pages.redirect(form.request, kind_pages.resource_overview_url(uid, mart_kinds.DESTINATION_KIND), Flash(said))


def _asked(form: Form, filled: Destination, secrets: dict[str, str]) -> dict[str, Any]:
    there = {"destination": form.found.uid} if form.found else {}
    settings = filled.settings(form.found.settings if form.found else None)
    return {**there, "project": form.within, "settings": settings, "secrets": secrets}


def _tried(request: Request, asked: Mapping[str, Any]) -> tuple[str, LakeholdError | None]:
    """What was found, or what is wrong. Whether the caller may is neither: it is refused."""

    def let_in(ctx: RequestContext) -> Caller:
        destinations.need_destination_check(ctx, str(asked.get("destination", "")), str(asked["project"]))
        return ctx.caller

    caller = looking.reading(request).run(let_in)
    try:
        return worker_client.check_destination(get_platform(request), caller, asked), None
    except LakeholdError as error:
        return "", error
