"""The page of a run: its state, steps, log and actions. The page refreshes itself while the run is open."""

from collections.abc import Callable

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.runs import run_table as states
from lakehold.runs.runnable import RunOptions
from lakehold.runs.service import Run, StepState
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.confirmation import need_confirmation
from lakehold.web.cookies import Flash
from lakehold.web.list_view import ListState
from lakehold.web.navigation import Breadcrumb, Navigation
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.runs import RUNS, labels
from lakehold.web.runs.run_list import run_row

routes = router("/runs")

_MOST_LINES = 200
_LOG_PAGE = 500


@routes.get("/{run}/live")
def live(request: Request, ctx: ReadContext, run: str, was: str = "") -> Response:
    """Render the part of the page that changes. If the run is gone, ask the browser to reload the whole page."""
    try:
        found = RUNS.get(ctx, run)
    except NotFoundError:
        return Response(status_code=200, headers={"HX-Refresh": "true", "Cache-Control": "no-store"})
    values = {**_page_values(ctx, found), "changed": found.state != was}
    return pages.render(request, "runs/run_live.html", values, navigation=Navigation())


@routes.get("/{run}/log")
def log_page(request: Request, ctx: ReadContext, run: str) -> Response:
    """Render the whole log of a run, oldest line first."""
    found, listing = RUNS.get(ctx, run), ListState.from_request(request, ("n",), size=_LOG_PAGE)
    lines = RUNS.log_lines(ctx, run, after=listing.before or 0, limit=_LOG_PAGE + 1)
    values: dict[str, object] = {
        **_page_values(ctx, found),
        "crumbs": [
            *resource_header.breadcrumbs(ctx, found.resource, "Run")[:-1],
            Breadcrumb("Run", urls.run(run)),
            Breadcrumb("Log"),
        ],
        "listing": listing,
        "names": {step.number: step.name for step in found.steps},
        "lines": lines[:_LOG_PAGE],
        "after": str(lines[_LOG_PAGE - 1].n) if len(lines) > _LOG_PAGE else "",
    }
    return pages.render(request, "runs/run_log.html", values)


@routes.get("/{run}")
def run_page(request: Request, ctx: ReadContext, run: str) -> Response:
    """Render the page of a run."""
    found = RUNS.get(ctx, run)
    crumbs = resource_header.breadcrumbs(ctx, found.resource, "Run")
    return pages.render(request, "runs/run.html", {**_page_values(ctx, found), "crumbs": crumbs, "changed": False})


def _reload(ctx: RequestContext, run: str) -> Run:
    return RUNS.start(ctx, RUNS.get(ctx, run).resource, RunOptions(reload=True))


_ACTIONS: dict[str, tuple[Callable[[RequestContext, str], Run], str]] = {
    "stop": (RUNS.stop, "Stopping the run."),
    "resume": (RUNS.resume, "Run resumed."),
    "retry": (RUNS.retry, "Run started again."),
    "reload": (_reload, "Full refresh started."),
}


@routes.post("/{run}/stop")
@routes.post("/{run}/resume")
@routes.post("/{run}/retry")
@routes.post("/{run}/reload")
def act(request: Request, ctx: WriteContext, run: str) -> Response:
    """Stop, resume or retry the run, or start a full refresh of its resource. A refusal is a flash message."""
    do, message = _ACTIONS[request.url.path.rpartition("/")[2]]
    try:
        return pages.redirect(request, urls.run(do(ctx, run).id), message)
    except (ConflictError, InvalidInputError) as error:
        return pages.redirect(request, urls.run(run), Flash(str(error), tone="bad"))


@routes.post("/{run}/delete")
def delete(request: Request, ctx: WriteContext, run: str, sent: SubmittedForm) -> Response:
    """Delete the run with its log, after a confirmation."""
    found = RUNS.get(ctx, run)
    text = "Data that it wrote or sent is kept."
    need_confirmation(request, sent, "Delete this run?", text, do="Delete", back=urls.run(run))
    try:
        RUNS.delete(ctx, run)
    except ConflictError as error:
        return pages.redirect(request, urls.run(run), Flash(str(error), tone="bad"))
    return pages.redirect(request, urls.resource(found.resource, "runs"), "The run was deleted.")


def run_actions(ctx: RequestContext, run: Run) -> list[PageAction]:
    """Return the actions that the state of a run allows, each with the reason if the caller may not use it."""
    runnable, here = RUNS.runnables[run.kind], urls.run(run.id)
    stop, target = RUNS.right_to_stop(ctx, run.kind, run.resource)
    stopping = PageAction("Stop", f"{here}/stop", "post", "square", confirm="Stop this run?")
    resuming = PageAction("Resume", f"{here}/resume", "post", "play")
    retrying = PageAction("Retry", f"{here}/retry", "post", "rotate-ccw")
    anew = "Run a full refresh? All rows in the table are replaced."
    reloading = PageAction("Full refresh", f"{here}/reload", "post", "refresh-cw", confirm=anew)
    deleting = PageAction("Delete", f"{here}/delete", "post", "trash-2", confirm="Delete this run?", danger=True)
    candidates: list[tuple[str, str, PageAction]] = []
    if run.state in states.OPEN and run.state != states.STOPPING:
        candidates.append((stop, target, stopping))
    if run.state in {states.FAILED, states.STOPPED}:
        candidates.append((stop, target, resuming))
    if run.state in states.ENDED:
        candidates += [(stop, target, retrying), (runnable.trigger, run.resource, reloading)]
        if right := runnable.delete_right(ctx, run.resource):
            candidates.append((*right, deleting))
    return [act for action, uid, each in candidates for act in resource_header.actions_of(ctx, uid, {action: each})]


def _page_values(ctx: RequestContext, run: Run) -> dict[str, object]:
    visible = VisibleRefs(ctx)
    lines = RUNS.last_log_lines(ctx, run.id, limit=_MOST_LINES)
    settings = PageAction("Open settings", urls.resource(run.resource), icon="settings")
    return {
        "run": run,
        "row": run_row(ctx, visible, run),
        "workspace": visible.workspace(run.resource),
        "is_open": run.state in states.OPEN,
        "actions": run_actions(ctx, run),
        "edit": resource_header.actions_of(ctx, run.resource, {"edit": settings})[0],
        "lines": lines,
        "took": lambda step: _step_duration(run, step, ctx.at),
        "cut": len(lines) == _MOST_LINES,
        "meaning": labels.DESCRIPTIONS[run.state],
        "totals": [sum(getattr(step, name) for step in run.steps) for name in ("rows", "size", "bad")],
    }


def _step_duration(run: Run, step: StepState, now: Moment) -> str:
    """Format how long a step took. One that did not end in a run that did has no duration."""
    until = now if run.state in states.OPEN else step.started_at or now
    return labels.run_duration(step.started_at, step.ended_at, until)
