"""The pages of a destination: its form, the test of its connection, and its section on the pipeline page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, get_platform, read_transaction
from lakehold.catalog import credentials
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import EdgeTargets, RequestContext
from lakehold.kit.errors import LakeholdError
from lakehold.runs import worker_client
from lakehold.runs.service import Run, StepState
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.connections import delivery_form, form_page
from lakehold.web.connections.delivery_form import (
    DATABASE,
    DELIVERY_ICONS,
    DELIVERY_LABELS,
    FILES,
    MAIL,
    WEBHOOK,
    DeliveryForm,
)
from lakehold.web.cookies import Flash
from lakehold.web.form_values import CORRECTABLE_ERRORS
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.runs import labels
from lakehold.web.runs.services import RUNS
from lakehold.workspaces.lakehouse import connection_access, volumes
from lakehold.workspaces.lakehouse.pages import table_options
from lakehold.workspaces.lakehouse.pages.page_frame import need_lakehouse

_WAY_HINTS = {
    FILES: "CSV, Excel, Parquet or JSON in a volume.",
    DATABASE: "Rows into a table of PostgreSQL or another database.",
    WEBHOOK: "Signed batches of rows to a URL.",
    MAIL: "A file as attachment.",
}
WAYS = tuple((word, DELIVERY_LABELS[word], about, DELIVERY_ICONS[word]) for word, about in _WAY_HINTS.items())


@dataclass(frozen=True, slots=True)
class LakehouseDestinationForm(DeliveryForm):
    """The values of the destination form."""

    name: str = ""
    description: str = ""
    reads: Sequence[str] = ()
    version: str = ""

    @property
    def volume(self) -> str:
        """The id of the volume that it writes, or an empty string."""
        return self.text("volume") if self.to == FILES else ""

    def edges(self) -> EdgeTargets:
        """Return the tables that it reads, and the volume that it writes."""
        return {"reads": list(self.reads), "writes": [self.volume] if self.volume else []}

    def settings(self, before: Mapping[str, object] | None = None) -> dict[str, object]:
        """Return the settings to save. Settings that the form does not have stay unchanged."""
        return {**(before or {}), **self.delivery_settings()}

    def errors(self) -> dict[str, str]:
        """Return the errors by field."""
        found: dict[str, str] = {} if self.name else {"name": "Enter a name."}
        if not self.reads:
            found["reads"] = "Select at least one table."
        if self.to == FILES and not self.volume:
            found["volume"] = "Select a volume."
        if self.to == MAIL and not self.text("subject"):
            found["subject"] = "Enter a subject."
        return {**found, **self.delivery_errors()}


def parse_destination_form(form: FormData) -> LakehouseDestinationForm:
    """Parse a submitted form."""
    name, description, version = (str(form.get(each, "")).strip() for each in ("name", "description", "version"))
    reads = [str(each) for each in form.getlist("reads") if each]
    return _complete_form(
        delivery_form.parse_delivery_form(form), name, description.replace("\r\n", "\n"), reads, version
    )


def blank_destination_form(to: str, reads: Sequence[str] = ()) -> LakehouseDestinationForm:
    """Return an empty form for a way of sending."""
    return _complete_form(delivery_form.blank_delivery_form(to), reads=reads)


def destination_form_from_resource(found: ResourceView, to: str = "") -> LakehouseDestinationForm:
    """Return the form for an existing destination. `to` applies if it has no way of sending yet."""
    filled = delivery_form.delivery_form_of_settings(found.settings or {}, to)
    writes = [end.uid for end in found.edges.get("writes", ()) if end.kind == "lakehouse.volume"]
    filled = replace(filled, texts={**filled.texts, "volume": writes[0] if writes else ""})
    reads = [end.uid for end in found.edges.get("reads", ())]
    return _complete_form(filled, found.name, found.description, reads, str(found.version))


def _complete_form(
    filled: DeliveryForm, name: str = "", description: str = "", reads: Sequence[str] = (), version: str = ""
) -> LakehouseDestinationForm:
    to = filled.to if filled.to in _WAY_HINTS else ""
    return LakehouseDestinationForm(to, filled.texts, filled.header, name, description, reads, version)


def run_connection_test(request: Request, asked: Mapping[str, Any]) -> tuple[str, LakeholdError | None]:
    """Test a destination through a worker; return the message, or the error. Missing rights are raised."""

    def let_in(ctx: RequestContext) -> Caller:
        destination, lakehouse, volume = (str(asked.get(name, "")) for name in ("destination", "lakehouse", "volume"))
        connection_access.need_destination_check(ctx, destination, lakehouse, asked.get("reads", ()), volume)
        return ctx.caller

    caller = read_transaction(request).run(let_in)
    try:
        return worker_client.check_connection(get_platform(request), caller, "lakehouse.destination", asked), None
    except LakeholdError as error:
        return "", error


new = router("/workspaces")
routes = router("/resources")


@new.get("/{uid:path}/pipelines/new/destination")
def new_form(request: Request, ctx: ReadContext, uid: str, to: str = "", table: str = "") -> Response:
    """Render the form for a new destination. The way of sending is chosen first; the address may name a table."""
    need_lakehouse(ctx, uid)
    return LakehouseDestinationFormPage(request, uid).render(ctx, blank_destination_form(to, [table] if table else []))


@new.post("/{uid:path}/pipelines/new/destination")
def make(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Test and create the destination."""
    read_transaction(request).run(lambda ctx: need_lakehouse(ctx, uid))
    return _submit_form(LakehouseDestinationFormPage(request, uid), platform, sent)


@routes.get("/{uid:path}/delivery")
def edit_form(request: Request, ctx: ReadContext, uid: str, to: str = "") -> Response:
    """Render the form of an existing destination, without its secret."""
    found = form_page.need_editable(ctx, uid, connection_access.DESTINATION_KIND)
    return LakehouseDestinationFormPage(request, form_page.workspace_id(found), found).render(
        ctx, destination_form_from_resource(found, to)
    )


@routes.post("/{uid:path}/delivery")
def edit(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Test and save the destination."""
    found = read_transaction(request).run(
        lambda ctx: form_page.need_editable(ctx, uid, connection_access.DESTINATION_KIND)
    )
    return _submit_form(LakehouseDestinationFormPage(request, form_page.workspace_id(found), found), platform, sent)


@routes.post("/{uid:path}/delivery/try")
def try_out(request: Request, uid: str) -> Response:
    """Test the saved destination."""
    found = read_transaction(request).run(
        lambda ctx: form_page.need_editable(ctx, uid, connection_access.DESTINATION_KIND)
    )
    filled = destination_form_from_resource(found)
    asked = {"destination": uid, "settings": dict(found.settings or {}), "volume": filled.volume}
    said, refused = run_connection_test(request, asked)
    flash = Flash(said) if refused is None else Flash(str(refused), tone="bad")
    return pages.redirect(request, urls.resource(uid, "pipeline"), flash)


class LakehouseDestinationFormPage(form_page.ConnectionFormPage[LakehouseDestinationForm]):
    """The form page of a lakehouse's destination."""

    kind, template, part = connection_access.DESTINATION_KIND, "lakehouse/delivery.html", "delivery"
    workspace_edge, list_view = "lakehouse", "pipelines"

    def extra_values(self, ctx: RequestContext) -> dict[str, object]:
        """Return the template values of this form alone."""
        writable = ctx.session.list(
            ctx.principal, "write", volumes.VOLUME_KIND, within=self.within, limit=table_options.MAX_TARGETS
        ).items
        return {
            "ways": WAYS,
            "modes": delivery_form.WRITE_MODES,
            "shapes": delivery_form.FILE_FORMATS,
            "reads": table_options.readable_tables(ctx, self.within),
            "volumes": table_options.qualified_names(ctx, writable),
        }


def _submit_form(form: LakehouseDestinationFormPage, platform: Platform, sent: FormData) -> Response:
    """Handle a submitted form: render it again, test the connection, or save."""
    filled, do = parse_destination_form(sent), str(sent.get("do", ""))
    secret, kept = form_page.read_secret(platform, read_transaction(form.request).run(lambda ctx: ctx.caller), sent)
    if wrong := filled.errors():
        return form.render_again(filled, kept, errors=wrong)
    secrets = {filled.credential: secret} if secret and filled.credential else {}
    if do == "test":
        said, refused = run_connection_test(form.request, _test_request(form, filled, secrets))
        if refused is not None:
            return form.render_error(filled, kept, refused)
        return form.render_again(filled, kept, said=said)
    try:
        uid = form.save(filled, secrets)
    except CORRECTABLE_ERRORS as refusal:
        return form.render_error(filled, kept, refusal)
    said = "Saved. Applies from the next run." if form.found else f"{filled.name} was created. Run it to send data."
    return pages.redirect(form.request, urls.resource(uid, "pipeline"), Flash(said))


def _test_request(
    form: LakehouseDestinationFormPage, filled: LakehouseDestinationForm, secrets: dict[str, str]
) -> dict[str, object]:
    there = {"destination": form.uid} if form.found else {"lakehouse": form.within}
    settings = filled.settings(form.found.settings if form.found else None)
    return {**there, "settings": settings, "reads": list(filled.reads), "volume": filled.volume, "secrets": secrets}


TEMPLATE = "lakehouse/destination.html"
_MAX_DELIVERIES = 8


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """The delivery of one table in one run."""

    run: str
    step: StepState
    size: str


def destination_values(
    ctx: RequestContext, eyes: VisibleRefs, found: ResourceView, runs: Sequence[Run]
) -> dict[str, object]:
    """Return the template values of the page."""
    here = urls.resource
    change = PageAction("Edit", here(found.uid, "delivery"), icon="pencil")
    trial = PageAction("Test connection", here(found.uid, "delivery/try"), "post", "zap")
    is_set = found.settings is None or bool(found.settings.get("to"))
    return {
        "where": None if found.settings is None else _connection_facts(ctx, eyes, found),
        "is_set": is_set,
        "change": resource_header.actions_of(ctx, found.uid, {"edit": change})[0],
        "trial": resource_header.actions_of(ctx, found.uid, {"edit": trial})[0],
        "deliveries": _latest_deliveries(ctx, runs),
    }


def _connection_facts(ctx: RequestContext, eyes: VisibleRefs, found: ResourceView) -> list[tuple[str, str]]:
    filled = destination_form_from_resource(found)
    if not filled.to:
        return []
    secret = [(name.capitalize(), "Saved (hidden)") for name in credentials.list_names(ctx, found.uid)]
    return [("As", delivery_form.DELIVERY_LABELS[filled.to]), *_target_facts(eyes, found, filled), *secret]


def _target_facts(
    eyes: VisibleRefs, found: ResourceView, filled: LakehouseDestinationForm
) -> delivery_form.LabelledValues:
    volume = eyes.ref(filled.volume)
    return delivery_form.describe_target(
        filled, found.settings or {}, volume=volume.name if volume else "Not visible to you"
    )


def _latest_deliveries(ctx: RequestContext, runs: Sequence[Run]) -> list[DeliveryRow]:
    steps = [(run.id, step) for run in runs for step in RUNS.get(ctx, run.id).steps]
    return [DeliveryRow(run, step, labels.format_size(step.size)) for run, step in steps[:_MAX_DELIVERIES]]
