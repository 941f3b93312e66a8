"""When a new source runs by itself: the last step. Later its triggers are changed where all pipelines have theirs."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.runs.service import Run
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.cookies import Flash
from lakehold.web.lakehouse import timing
from lakehold.web.lakehouse.doing import RUNS, TRIGGERS
from lakehold.web.lakehouse.sources import steps
from lakehold.web.lakehouse.sources.connecting import need_source
from lakehold.web.lakehouse.timing import Timing
from lakehold.web.lakehouse.zones import zones
from lakehold.web.routing import SubmittedForm, router

routes = router("/resources")

_CHOICES = ((timing.BY_HAND, "Only by hand", "Whenever somebody runs it."), *timing.EVERY)


@routes.get("/{uid:path}/schedule")
def schedule_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """The last question."""
    return _page(request, ctx, need_source(ctx, uid), Timing(), run_now=True)


@routes.post("/{uid:path}/schedule")
def schedule(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Keep it, and run it for the first time if that is wanted."""
    found, filled, run_now = need_source(ctx, uid), timing.sent(sent), bool(sent.get("run_now"))
    if errors := filled.errors(may_rest=True):
        return _page(request, ctx, found, filled, run_now=run_now, errors=errors)
    if str(sent.get("do", "")) == "times":
        return _page(request, ctx, found, filled, run_now=run_now)
    if filled.every != timing.BY_HAND:
        TRIGGERS.save(ctx, uid, filled.when())
    started: Run | None = None
    home, said = resource_header.overview_url(ctx, uid), Flash(f"{found.name} is set up.")
    try:
        started = RUNS.start(ctx, uid) if run_now else None
    except (ConflictError, InvalidInputError, DeniedError, HiddenError) as error:
        said = Flash(f"{found.name} is set up, and cannot run yet: {error}", tone="warn")
    return pages.redirect(request, urls.run(started.id) if started else home, said)


def _page(
    request: Request,
    ctx: RequestContext,
    found: ResourceView,
    filled: Timing,
    *,
    run_now: bool,
    errors: dict[str, str] | None = None,
) -> Response:
    due = [] if errors or filled.every == timing.BY_HAND else timing.upcoming(filled.when(), ctx.at)
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, found.uid, "Schedule"),
        "found": found,
        "steps": steps.steps(steps.SCHEDULE, found.uid),
        "to": steps.at(found.uid, steps.SCHEDULE),
        "back": steps.at(found.uid, steps.PREVIEW),
        "filled": filled,
        "choices": _CHOICES,
        "zones": zones(),
        "upcoming": due,
        "run_now": run_now,
        "errors": errors or {},
    }
    return pages.render(request, "lakehouse/schedule.html", values, status=422 if errors else 200)
