"""The form and pages of a project's destination. The connection can be tested before it is saved, and later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, get_platform, read_transaction
from lakehold.catalog import kinds, resources, workspaces
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import EdgeTargets, RequestContext
from lakehold.kit.errors import LakeholdError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.runs import worker_client
from lakehold.web import kind_pages, pages
from lakehold.web.connections import delivery_form, form_page
from lakehold.web.connections.delivery_form import (
    CHAT,
    DATABASE,
    DELIVERY_ICONS,
    DELIVERY_LABELS,
    FILES,
    LIVE,
    MAIL,
    WEBHOOK,
    DeliveryForm,
)
from lakehold.web.connections.form_page import workspace_id
from lakehold.web.cookies import Flash
from lakehold.web.form_values import CORRECTABLE_ERRORS
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.marts import destinations, mart_kinds
from lakehold.workspaces.marts.pages import page_frame

_WAY_HINTS = {
    FILES: "CSV, Excel, Parquet or JSON Lines, for download.",
    MAIL: "The report's message with its rows attached.",
    CHAT: "A message to a channel of Slack or a compatible tool.",
    WEBHOOK: "Signed batches of rows to a URL.",
    DATABASE: "Rows into a table of PostgreSQL or another database.",
    LIVE: "BI tools pull the rows with a secret.",
}
WAYS = tuple((word, DELIVERY_LABELS[word], about, DELIVERY_ICONS[word]) for word, about in _WAY_HINTS.items())
_FORM_SETTINGS = frozenset(
    {"to", "name", "kind", "delimiter", "header", "address", "keys", "user", "schema", "table", "mode", "driver"}
    | {"headers", "batch", "receivers", "subject", "body"}
)
"""What the form knows; anything else stays as it was."""


@dataclass(frozen=True, slots=True)
class MartDestinationForm(DeliveryForm):
    """The values of the destination form."""

    name: str = ""
    description: str = ""
    version: str = ""

    @staticmethod
    def edges() -> EdgeTargets:
        """Return no edges: a destination only belongs to its project."""
        return {}

    def settings(self, before: Mapping[str, object] | None = None) -> dict[str, object]:
        """Return the settings to save. Empty values are left out, so that each report may set them."""
        stays = {name: value for name, value in (before or {}).items() if name not in _FORM_SETTINGS}
        return {
            **stays,
            **{name: value for name, value in self.delivery_settings().items() if value not in ("", [], {})},
        }

    def errors(self, *, has_secret: bool) -> dict[str, str]:
        """Return the errors by field."""
        found: dict[str, str] = {} if self.name else {"name": "Enter a name."}
        if self.to == DATABASE and not self.text("table"):
            found["table"] = "Enter a table."
        if self.to == CHAT and not has_secret:
            found["secret"] = "Enter the webhook URL."  # noqa: S105 - words
        return {**found, **self.delivery_errors()}


def parse_destination_form(form: FormData) -> MartDestinationForm:
    """Parse a submitted form."""
    name, description, version = (str(form.get(each, "")).strip() for each in ("name", "description", "version"))
    return _complete_form(delivery_form.parse_delivery_form(form), name, description.replace("\r\n", "\n"), version)


def blank_destination_form(to: str) -> MartDestinationForm:
    """Return an empty form for a way of sending."""
    return _complete_form(delivery_form.blank_delivery_form(to))


def destination_form_from_resource(found: ResourceView, to: str = "") -> MartDestinationForm:
    """Return the form for an existing destination. `to` applies if it has no way of sending yet."""
    return _complete_form(
        delivery_form.delivery_form_of_settings(found.settings or {}, to),
        found.name,
        found.description,
        str(found.version),
    )


def _complete_form(
    filled: DeliveryForm, name: str = "", description: str = "", version: str = ""
) -> MartDestinationForm:
    return MartDestinationForm(filled.to, filled.texts, filled.header, name, description, version)


new = router("/workspaces")
routes = router("/resources")


@new.get("/{uid:path}/destinations/new")
def new_form(request: Request, ctx: ReadContext, uid: str, to: str = "") -> Response:
    """Render the form for a new destination. The way of sending is chosen first."""
    need_project(ctx, uid)
    return MartDestinationFormPage(request, uid).render(ctx, blank_destination_form(to))


@new.post("/{uid:path}/destinations/new")
def make(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Create the destination, or test it first."""
    read_transaction(request).run(lambda ctx: need_project(ctx, uid))
    return _submit_form(MartDestinationFormPage(request, uid), platform, sent)


@routes.get("/{uid:path}/destination/edit")
def edit_form(request: Request, ctx: ReadContext, uid: str, to: str = "") -> Response:
    """Render the form of an existing destination, without its secret."""
    found = need_edit(ctx, uid)
    return MartDestinationFormPage(request, workspace_id(found), found).render(
        ctx, destination_form_from_resource(found, to)
    )


@routes.post("/{uid:path}/destination/edit")
def edit(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Save the destination, or test it first."""
    found = read_transaction(request).run(lambda ctx: need_edit(ctx, uid))
    return _submit_form(MartDestinationFormPage(request, workspace_id(found), found), platform, sent)


@routes.post("/{uid:path}/destination/try")
def try_out(request: Request, uid: str) -> Response:
    """Test the saved destination."""
    found = read_transaction(request).run(lambda ctx: need_edit(ctx, uid))
    asked = {"destination": uid, "project": workspace_id(found), "settings": dict(found.settings or {})}
    said, refused = _run_connection_test(request, asked)
    flash = Flash(said) if refused is None else Flash(str(refused), tone="bad")
    return pages.redirect(request, kind_pages.resource_overview_url(uid, mart_kinds.DESTINATION_KIND), flash)


class MartDestinationFormPage(page_frame.ProjectFormPage[MartDestinationForm]):
    """The form page of a project's destination."""

    kind, template = mart_kinds.DESTINATION_KIND, "marts/destination_form.html"

    def extra_values(self, ctx: RequestContext) -> dict[str, object]:
        """Return the template values of this form alone."""
        del ctx
        return {"ways": WAYS, "modes": delivery_form.WRITE_MODES, "shapes": delivery_form.FILE_FORMATS}


def need_project(ctx: RequestContext, uid: str) -> None:
    """Raise NotFoundError unless the workspace is a project."""
    workspaces.need_workspace(ctx, uid)
    if kinds.schema_of(ctx.view, uid).id != mart_kinds.PROJECT_KIND:
        raise NotFoundError(f"There is no project {quote(uid)}.", "Check the name in the list of workspaces.")


def need_destination(ctx: RequestContext, uid: str) -> ResourceView:
    """Return the destination, if the caller may see it."""
    found = resources.get(ctx, uid)
    if found.kind != mart_kinds.DESTINATION_KIND:
        raise NotFoundError(f"There is no destination {quote(uid)}.", "Check the name in the project.")
    return found


def need_edit(ctx: RequestContext, uid: str) -> ResourceView:
    """Return the destination, if the caller may edit it."""
    found = need_destination(ctx, uid)
    ctx.need("edit", uid)
    return found


def _submit_form(form: MartDestinationFormPage, platform: CurrentPlatform, sent: SubmittedForm) -> Response:
    """Handle a submitted form: render it again, test the connection, or save."""
    filled, reading = parse_destination_form(sent), read_transaction(form.request)
    secret, kept = form_page.read_secret(platform, reading.run(lambda ctx: ctx.caller), sent)
    if wrong := filled.errors(has_secret=bool(secret) or filled.credential in reading.run(form.secrets)):
        return form.render_again(filled, kept, errors=wrong)
    secrets = {filled.credential: secret} if secret and filled.credential else {}
    if str(sent.get("do", "")) == "test":
        said, refused = _run_connection_test(form.request, _test_request(form, filled, secrets))
        if refused is not None:
            return form.render_error(filled, kept, refused)
        return form.render_again(filled, kept, said=said)
    try:
        uid = form.save(filled, secrets)
    except CORRECTABLE_ERRORS as refusal:
        return form.render_error(filled, kept, refusal)
    said = "Saved. Applies from the next run." if form.found else f"{filled.name} was created."
    return pages.redirect(form.request, kind_pages.resource_overview_url(uid, mart_kinds.DESTINATION_KIND), Flash(said))


def _test_request(
    form: MartDestinationFormPage, filled: MartDestinationForm, secrets: dict[str, str]
) -> dict[str, Any]:
    there = {"destination": form.found.uid} if form.found else {}
    settings = filled.settings(form.found.settings if form.found else None)
    return {**there, "project": form.within, "settings": settings, "secrets": secrets}


def _run_connection_test(request: Request, asked: Mapping[str, Any]) -> tuple[str, LakeholdError | None]:
    """Test a destination through a worker; return the message, or the error. Missing rights are raised."""

    def let_in(ctx: RequestContext) -> Caller:
        destinations.need_destination_check(ctx, str(asked.get("destination", "")), str(asked["project"]))
        return ctx.caller

    caller = read_transaction(request).run(let_in)
    try:
        return worker_client.check_connection(get_platform(request), caller, "marts.destination", asked), None
    except LakeholdError as error:
        return "", error
