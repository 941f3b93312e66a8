"""The set-up of a source: its steps, the connection form (first step) and the schedule (last step)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext, read_transaction
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.runs.service import Run
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.connections import connector_fields, form_page, probe
from lakehold.web.cookies import Flash
from lakehold.web.form_values import CORRECTABLE_ERRORS
from lakehold.web.labels import format_count
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.runs.services import RUNS, TRIGGERS
from lakehold.web.schedules import schedule_form
from lakehold.web.schedules.schedule_form import ScheduleForm, time_zones
from lakehold.workspaces.lakehouse import connection_access, volumes
from lakehold.workspaces.lakehouse.pages import table_options
from lakehold.workspaces.lakehouse.pages.page_frame import need_lakehouse
from lakehold.workspaces.lakehouse.pages.sources import connection_form, source_probe
from lakehold.workspaces.lakehouse.pages.sources.connection_form import LakehouseSourceForm

CONNECT, STREAMS, PREVIEW, SCHEDULE = "connection", "streams", "preview", "schedule"
_STEP_LABELS = {CONNECT: "Connect", STREAMS: "Select streams", PREVIEW: "Preview", SCHEDULE: "Schedule"}
_SETUP_QUERY = "?setup=1"


@dataclass(frozen=True, slots=True)
class SetupStep:
    """A step of the set-up, with its state: done, now or next."""

    label: str
    href: str
    state: str


def setup_steps(now: str, uid: str = "") -> list[SetupStep]:
    """Return all steps. Without a source, the first is the current one."""
    order = list(_STEP_LABELS)
    here = order.index(now)
    return [
        SetupStep(
            _STEP_LABELS[part],
            setup_url(uid, part) if uid and n != here else "",
            "done" if n < here else "now" if n == here else "next",
        )
        for n, part in enumerate(order)
    ]


def setup_url(uid: str, part: str) -> str:
    """Return the address of a step during the set-up."""
    return urls.resource(uid, part) + _SETUP_QUERY


def step_url(uid: str, part: str, *, setup: bool) -> str:
    """Return the address of a step, during the set-up or later."""
    return setup_url(uid, part) if setup else urls.resource(uid, part)


new = router("/workspaces")
routes = router("/resources")


@new.get("/{uid:path}/pipelines/new/source")
def new_form(request: Request, ctx: ReadContext, uid: str, connector: str = "", layer: str = "") -> Response:
    """Render the form for a new source. The connector is chosen first."""
    need_lakehouse(ctx, uid)
    return SourceFormPage(request, uid).render(ctx, connection_form.blank_connection_form(connector, layer))


@new.post("/{uid:path}/pipelines/new/source")
def make(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Test the connection and create the source."""
    read_transaction(request).run(lambda ctx: need_lakehouse(ctx, uid))
    return _submit_form(SourceFormPage(request, uid), platform, sent)


@routes.get("/{uid:path}/connection")
def edit_form(request: Request, ctx: ReadContext, uid: str, connector: str = "") -> Response:
    """Render the form of an existing source, without its secrets."""
    found = need_source(ctx, uid)
    return SourceFormPage(request, form_page.workspace_id(found), found).render(
        ctx, connection_form.connection_form_from_resource(found, connector)
    )


@routes.post("/{uid:path}/connection")
def edit(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Test the connection and save the source."""
    found = read_transaction(request).run(lambda ctx: need_source(ctx, uid))
    return _submit_form(SourceFormPage(request, form_page.workspace_id(found), found), platform, sent)


def need_source(ctx: RequestContext, uid: str) -> ResourceView:
    """Return the source, if the caller may edit it."""
    return form_page.need_editable(ctx, uid, connection_access.SOURCE_KIND)


class SourceFormPage(form_page.ConnectionFormPage[LakehouseSourceForm]):
    """The connection form page of a source, the first step of its set-up."""

    kind, template, part = connection_access.SOURCE_KIND, "lakehouse/connection.html", CONNECT
    workspace_edge, list_view = "lakehouse", "pipelines"

    @property
    def setup(self) -> bool:
        """Whether the source is being set up."""
        return self.found is None or bool(self.request.query_params.get("setup"))

    @property
    def action_url(self) -> str:
        """The address that the form is submitted to."""
        return step_url(self.found.uid, CONNECT, setup=self.setup) if self.found else super().action_url

    def extra_values(self, ctx: RequestContext) -> dict[str, object]:
        """Return the template values of this form alone."""
        found = ctx.session.list(
            ctx.principal, "read", volumes.VOLUME_KIND, within=self.within, limit=table_options.MAX_TARGETS
        ).items
        return {
            "steps": setup_steps(CONNECT, self.uid) if self.setup else [],
            "connectors": connection_form.CONNECTORS,
            "layers": [(each, name) for name, each in table_options.writable_layers(ctx, self.within).items()],
            "volumes": table_options.qualified_names(ctx, found),
            "setup": self.setup,
        }


def _submit_form(form: SourceFormPage, platform: Platform, sent: FormData) -> Response:
    """Handle a submitted form: render it again, test the connection, or save."""
    filled, do = connection_form.parse_connection_form(sent), str(sent.get("do", ""))
    reading = read_transaction(form.request)
    secret, kept = form_page.read_secret(platform, reading.run(lambda ctx: ctx.caller), sent)
    if do == "more":
        return form.render_again(
            replace(filled, endpoints=[*filled.endpoints, dict.fromkeys(connector_fields.ENDPOINT_FIELDS, "")]), kept
        )
    if wrong := filled.errors(has_secret=bool(secret) or filled.credential in reading.run(form.secrets)):
        return form.render_again(filled, kept, errors=wrong)
    secrets = {filled.credential: secret} if secret and filled.credential else {}
    if do != "save":
        seen = _test_connection(form, filled, secrets)
        if seen.error is not None:
            return form.render_error(filled, kept, seen.error)
        if do == "test":
            said = f"Connection successful: {format_count(len(seen.streams), 'stream')} found."
            return form.render_again(filled, kept, said=said)
    try:
        uid = form.save(filled, secrets)
    except CORRECTABLE_ERRORS as refusal:
        return form.render_error(filled, kept, refusal)
    if form.setup:
        return pages.redirect(form.request, setup_url(uid, STREAMS), Flash(f"{filled.name} was created."))
    return pages.redirect(form.request, urls.resource(uid, "pipeline"), Flash("Saved. Applies from the next run."))


def _test_connection(form: SourceFormPage, filled: LakehouseSourceForm, secrets: dict[str, str]) -> probe.SourceProbe:
    there = {"source": form.uid} if form.found else {"lakehouse": form.within, "layer": filled.layer}
    before = form.found.settings if form.found else None
    return source_probe.probe_source(form.request, {**there, "settings": filled.settings(before), "secrets": secrets})


schedule_routes = router("/resources")

_FREQUENCY_CHOICES = ((schedule_form.BY_HAND, "Manual", "No schedule."), *schedule_form.FREQUENCIES)


@schedule_routes.get("/{uid:path}/schedule")
def schedule_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the schedule form, the last step of the set-up."""
    return _schedule_form_page(request, ctx, need_source(ctx, uid), ScheduleForm(), run_now=True)


@schedule_routes.post("/{uid:path}/schedule")
def schedule(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Save the schedule, and start the first run if requested."""
    found, filled, run_now = need_source(ctx, uid), schedule_form.parse_schedule_form(sent), bool(sent.get("run_now"))
    if errors := filled.errors(may_rest=True):
        return _schedule_form_page(request, ctx, found, filled, run_now=run_now, errors=errors)
    if str(sent.get("do", "")) == "times":
        return _schedule_form_page(request, ctx, found, filled, run_now=run_now)
    if filled.every != schedule_form.BY_HAND:
        TRIGGERS.save(ctx, uid, filled.to_schedule())
    started: Run | None = None
    home, said = resource_header.overview_url(ctx, uid), Flash(f"{found.name} is set up.")
    try:
        started = RUNS.start(ctx, uid) if run_now else None
    except (ConflictError, InvalidInputError, DeniedError, HiddenError) as error:
        said = Flash(f"{found.name} is set up, but cannot run yet: {error}", tone="warn")
    return pages.redirect(request, urls.run(started.id) if started else home, said)


def _schedule_form_page(
    request: Request,
    ctx: RequestContext,
    found: ResourceView,
    filled: ScheduleForm,
    *,
    run_now: bool,
    errors: dict[str, str] | None = None,
) -> Response:
    due = (
        []
        if errors or filled.every == schedule_form.BY_HAND
        else schedule_form.next_times(filled.to_schedule(), ctx.at)
    )
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, found.uid, "Schedule"),
        "found": found,
        "steps": setup_steps(SCHEDULE, found.uid),
        "to": setup_url(found.uid, SCHEDULE),
        "back": setup_url(found.uid, PREVIEW),
        "filled": filled,
        "choices": _FREQUENCY_CHOICES,
        "zones": time_zones(),
        "upcoming": due,
        "run_now": run_now,
        "errors": errors or {},
    }
    return pages.render(request, "lakehouse/schedule.html", values, status=422 if errors else 200)
