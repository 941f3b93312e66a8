"""The set-up of a source: its steps, the connection form (first step) and the schedule (last step)."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from fastapi import Request, Response

from lakehold.api.http.dependencies import FormContext
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError
from lakehold.runs import worker_client
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.connections import form_page
from lakehold.web.connections.form import ResourceForm, load_design
from lakehold.web.cookies import Flash
from lakehold.web.form_values import FieldErrors
from lakehold.web.labels import format_count, humanize
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router
from lakehold.web.runs import RUNS, TRIGGERS
from lakehold.web.schedules import schedule_form
from lakehold.workspaces.lakehouse.pages.page_frame import FORMS, MAX_TARGETS, LakehouseFormPage, options_for
from lakehold.workspaces.lakehouse.pipelines.base import LAYER_KIND
from lakehold.workspaces.lakehouse.pipelines.connections import SourcePipeline, need_source_probe, sampled_resource
from lakehold.workspaces.lakehouse.settings import SOURCE
from lakehold.workspaces.lakehouse.volumes import VOLUME_KIND

CONNECT, STREAMS, PREVIEW, SCHEDULE = "connection", "streams", "preview", "schedule"
_STEP_LABELS = {CONNECT: "Connect", STREAMS: "Select streams", PREVIEW: "Preview", SCHEDULE: "Schedule"}


def step_url(uid: str, part: str, *, setup: bool = True) -> str:
    """Return the address of a step, during the set-up or later."""
    return urls.resource(uid, part) + ("?setup=1" if setup else "")


def is_setup(request: Request) -> bool:
    """Whether a step is opened during the set-up."""
    return bool(request.query_params.get("setup"))


def setup_steps(now: str, uid: str = "") -> list[dict[str, str]]:
    """Return label, address and state (done, now or next) of all steps. Without a source, the first is the current."""
    order = list(_STEP_LABELS)
    here = order.index(now)
    return [
        {
            "label": _STEP_LABELS[part],
            "href": step_url(uid, part) if uid and n != here else "",
            "state": "done" if n < here else "now" if n == here else "next",
        }
        for n, part in enumerate(order)
    ]


def step_values(ctx: RequestContext, found: ResourceView, part: str, *, setup: bool = True) -> dict[str, object]:
    """Return the template values that the steps of an existing source share."""
    return {
        "crumbs": resource_header.breadcrumbs(ctx, found.uid, humanize(part)),
        "found": found,
        "setup": setup,
        "steps": setup_steps(part, found.uid) if setup else [],
        "step_url": lambda step: step_url(found.uid, step, setup=setup),
        "to": step_url(found.uid, part, setup=setup),
        "back": resource_header.overview_url(ctx, found.uid),
    }


class SourceFormPage(LakehouseFormPage):
    """The connection form page of a source, the first step of its set-up."""

    kind, design = SourcePipeline.kind, load_design(FORMS, "source", SOURCE.records)
    new_part, edit_part = "pipelines/new/source", CONNECT
    carried: ClassVar[Mapping[str, str]] = {"layer": "layer"}

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
        return {
            "layer": options_for(ctx, "create_table", LAYER_KIND, self.within, MAX_TARGETS),
            "volume": options_for(ctx, "read", VOLUME_KIND, self.within, MAX_TARGETS),
        }

    def extra_values(self) -> dict[str, object]:
        """Return the steps of the set-up."""
        steps = setup_steps(CONNECT, self.uid) if self.setup else []
        note = self.design.note if self.found else "Each run reads rows from here."
        return {"steps": steps, "note": note, "icon": "arrow-right" if self.setup else ""}

    def test(self, filled: ResourceForm, secrets: Mapping[str, str]) -> form_page.ConnectionTest:
        """List the streams."""
        there = {"source": self.uid} if self.found else {"lakehouse": self.within, "layer": filled.text("layer")}
        found, error = probe_source(self.request, {**there, "settings": filled.settings(), "secrets": secrets})
        count = len(found.get("streams", ()))
        return form_page.ConnectionTest(f"Connection successful: {format_count(count, 'stream')} found.", error)

    def saved(self, filled: ResourceForm, uid: str) -> tuple[str, str]:
        """Go on with the streams, or return to the page of the source."""
        if self.setup:
            return step_url(uid, STREAMS), f"{filled.name} was created."
        return super().saved(filled, uid)


new, routes = form_page.form_routers(SourceFormPage)
need_source = SourceFormPage.need_resource


SourceProbe = tuple[Mapping[str, Any], LakeholdError | None]
"""The JSON of what was found at a source, and the error if it could not be reached."""


def probe_source(request: Request, asked: Mapping[str, Any]) -> SourceProbe:
    """Probe a source through a worker as the caller. Missing rights are raised."""
    found, error = form_page.probe_as_caller(
        request,
        lambda ctx: need_source_probe(ctx, asked),
        lambda platform, caller: worker_client.probe(
            platform, caller, "lakehouse.source", asked, sampled_resource(asked)
        ),
    )
    return found or {}, error


schedule_routes = router("/resources")

_FREQUENCY_CHOICES = ((schedule_form.BY_HAND, "Manual", "No schedule."), *schedule_form.FREQUENCIES)


@schedule_routes.api_route("/{uid:path}/schedule", methods=FORM_METHODS)
def schedule(request: Request, ctx: FormContext, uid: str, sent: SubmittedForm) -> Response:
    """Show the schedule form, the last step of the set-up; save the schedule, and start the first run if requested."""
    found, filled, run_now, errors = need_source(ctx, uid), schedule_form.ScheduleForm(), True, FieldErrors()
    if request.method == "POST":
        filled, run_now = schedule_form.parse_schedule_form(sent), bool(sent.get("run_now"))
        errors.update(filled.errors(may_rest=True))
        if not errors and sent.get("do") != "times":
            return _finish_setup(request, ctx, found, filled, run_now=run_now)
    is_scheduled = not errors and filled.every != schedule_form.BY_HAND
    values: dict[str, object] = {
        **step_values(ctx, found, SCHEDULE),
        "filled": filled,
        "choices": _FREQUENCY_CHOICES,
        "zones": schedule_form.time_zones(),
        "upcoming": schedule_form.next_times(filled.to_schedule(), ctx.at) if is_scheduled else [],
        "run_now": run_now,
    }
    return pages.render_form(request, "lakehouse/schedule.html", values, errors)


def _finish_setup(
    request: Request, ctx: RequestContext, found: ResourceView, filled: schedule_form.ScheduleForm, *, run_now: bool
) -> Response:
    if filled.every != schedule_form.BY_HAND:
        TRIGGERS.save(ctx, found.uid, filled.to_schedule())
    to, said = resource_header.overview_url(ctx, found.uid), Flash(f"{found.name} is set up.")
    try:
        to = urls.run(RUNS.start(ctx, found.uid).id) if run_now else to
    except (ConflictError, InvalidInputError, DeniedError, HiddenError) as error:
        said = Flash(f"{found.name} is set up, but cannot run yet: {error}", tone="warn")
    return pages.redirect(request, to, said)
