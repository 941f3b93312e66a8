"""The set-up of a source: its steps, the connection form (first step) and the schedule (last step)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError
from lakehold.runs import worker_client
from lakehold.runs.service import Run
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.connections import form_page
from lakehold.web.connections.form import ResourceForm, load_design
from lakehold.web.connections.form_page import ConnectionFormPage, ConnectionTest
from lakehold.web.cookies import Flash
from lakehold.web.labels import format_count
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.runs.services import RUNS, TRIGGERS
from lakehold.web.schedules import schedule_form
from lakehold.web.schedules.schedule_form import ScheduleForm, time_zones
from lakehold.workspaces.lakehouse import connection_access, volumes
from lakehold.workspaces.lakehouse.pages import table_options
from lakehold.workspaces.lakehouse.pages.page_frame import FORMS, need_lakehouse

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


def is_setup(request: Request) -> bool:
    """Whether a step is opened during the set-up."""
    return bool(request.query_params.get("setup"))


def step_url(uid: str, part: str, *, setup: bool) -> str:
    """Return the address of a step, during the set-up or later."""
    return setup_url(uid, part) if setup else urls.resource(uid, part)


def need_source(ctx: RequestContext, uid: str) -> ResourceView:
    """Return the source, if the caller may edit it."""
    return form_page.need_editable(ctx, uid, connection_access.SOURCE_KIND)


class SourceFormPage(ConnectionFormPage):
    """The connection form page of a source, the first step of its set-up."""

    kind, design = connection_access.SOURCE_KIND, load_design(FORMS, "source", "source")
    new_part, edit_part = "pipelines/new/source", CONNECT
    workspace_edge, list_view = "lakehouse", "pipelines"
    carried: ClassVar[Mapping[str, str]] = {"layer": "layer"}

    @classmethod
    def need_workspace(cls, ctx: RequestContext, uid: str) -> None:
        """Refuse unless the workspace is a lakehouse that the caller sees."""
        need_lakehouse(ctx, uid)

    @classmethod
    def need_resource(cls, ctx: RequestContext, uid: str) -> ResourceView:
        """Return the source, if the caller may edit it."""
        return need_source(ctx, uid)

    @property
    def setup(self) -> bool:
        """Whether the source is being set up."""
        return self.found is None or is_setup(self.request)

    @property
    def action_url(self) -> str:
        """The address that the form is submitted to."""
        return step_url(self.uid, CONNECT, setup=self.setup) if self.found else super().action_url

    def heading(self) -> tuple[str, str]:
        """Return the last breadcrumb and the title."""
        return ("Connection", f"Connection of {self.found.name}") if self.found else super().heading()

    def options(self, ctx: RequestContext) -> Mapping[str, Sequence[tuple[Any, ...]]]:
        """Return the layers in which the caller may create tables, and the volumes that they may read."""
        found = ctx.session.list(
            ctx.principal, "read", volumes.VOLUME_KIND, within=self.within, limit=table_options.MAX_TARGETS
        ).items
        layers = [(each, name) for name, each in table_options.writable_layers(ctx, self.within).items()]
        return {"layer": layers, "volume": table_options.qualified_names(ctx, found)}

    def extra_values(self) -> dict[str, object]:
        """Return the steps of the set-up."""
        steps = setup_steps(CONNECT, self.uid) if self.setup else []
        note = self.design.note if self.found else "Each run reads rows from here."
        return {"steps": steps, "note": note, "icon": "arrow-right" if self.setup else ""}

    def test(self, filled: ResourceForm, secrets: Mapping[str, str]) -> ConnectionTest:
        """List the streams."""
        there = {"source": self.uid} if self.found else {"lakehouse": self.within, "layer": filled.text("layer")}
        seen = probe_source(self.request, {**there, "settings": filled.settings(), "secrets": secrets})
        return ConnectionTest(f"Connection successful: {format_count(len(seen.streams), 'stream')} found.", seen.error)

    def saved(self, filled: ResourceForm, uid: str) -> tuple[str, str]:
        """Go on with the streams, or return to the page of the source."""
        if self.setup:
            return setup_url(uid, STREAMS), f"{filled.name} was created."
        return urls.resource(uid, "pipeline"), "Saved. Applies from the next run."


new, routes = form_page.form_routers(SourceFormPage)


@dataclass(frozen=True, slots=True)
class SourceProbe:
    """The result of probing a source, or the error."""

    found: Mapping[str, Any] = field(default_factory=dict)
    error: LakeholdError | None = None

    @property
    def streams(self) -> list[Mapping[str, Any]]:
        """Return the streams of the source."""
        return list(self.found.get("streams", ()))


def probe_source(request: Request, asked: Mapping[str, Any]) -> SourceProbe:
    """Probe a source through a worker as the caller. Missing rights are raised."""
    source, lakehouse, layer = (str(asked.get(name, "")) for name in ("source", "lakehouse", "layer"))
    found, error = form_page.probe_as_caller(
        request,
        lambda ctx: connection_access.need_source_probe(ctx, source, lakehouse, layer),
        lambda platform, caller: worker_client.probe(platform, caller, "lakehouse.source", asked),
    )
    return SourceProbe(found or {}, error)


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
