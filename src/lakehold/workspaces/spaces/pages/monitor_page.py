"""The monitor: every task of all one's data spaces as one list, whose chosen tasks are run or stopped together.

Each task is started or stopped in a transaction of its own, so that a refusal of one keeps back no other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, read_transaction, write_transaction
from lakehold.catalog.resource_view import ResourceRef
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError
from lakehold.runs import run_table as states
from lakehold.web import pages
from lakehold.web.cookies import Flash
from lakehold.web.labels import format_count, humanize
from lakehold.web.list_view import ListFilter, ListState
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.runs import RUNS, labels
from lakehold.workspaces.spaces import monitor, owner_context
from lakehold.workspaces.spaces.datasets import DesignState
from lakehold.workspaces.spaces.monitor import LACKS_ROLE, NEVER, TaskStatus
from lakehold.workspaces.spaces.pages.home import MONITOR

routes = router(MONITOR)

_SORTS = ("state", "name", "space", "duration", "rows", "latency")
_FIRST = (states.FAILED, states.STOPPING, states.RUNNING, states.QUEUED, states.WAITING, states.STOPPED, NEVER)
"""The order of states: what needs somebody comes first."""
_STATES = ListFilter(
    "state",
    "State",
    (*((state, humanize(state)) for state in labels.TONES), (NEVER, "Never run"), (LACKS_ROLE, "Owner lacks role")),
)
_DESIGNS = ListFilter("design", "Design", tuple((each.value, each.value.capitalize()) for each in DesignState))
_MOST_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class MonitorRow:
    """A task in the list, and what the caller may do with it."""

    status: TaskStatus
    duration: int | None
    latency: int | None
    may_operate: bool
    missing: str
    """The role that the owner of the project lacks, if any."""


@routes.get("")
def monitor_page(request: Request, ctx: ReadContext) -> Response:
    """Render the tasks that the caller may list."""
    found = monitor.load(ctx)
    spaces = {each.space.uid: each.space.name for each in found}
    by_space = ListFilter("space", "Space", tuple(sorted(spaces.items(), key=lambda pair: pair[1].casefold())))
    listing = ListState.from_request(request, _SORTS, (by_space, _STATES, _DESIGNS))
    rows = listing.select([each for each in found if _is_chosen(each, listing)], _search_text, _sort_keys(ctx.at))
    values: dict[str, object] = {
        "listing": listing,
        "rows": [_row(ctx, each) for each in listing.slice_page(rows)],
        "total": len(rows),
        "stats": _stats(found),
        "monitor": MONITOR,
    }
    return pages.render(request, "spaces/monitor.html", values)


def _is_chosen(status: TaskStatus, listing: ListState) -> bool:
    space, state, design = (listing.chosen[key] for key in ("space", "state", "design"))
    has_state = status.owner_lacks_role if state == LACKS_ROLE else state in {"", status.state}
    return has_state and space in {"", status.space.uid} and design in {"", status.design.value}


def _search_text(status: TaskStatus) -> str:
    return f"{status.task.name} {status.project.name} {status.space.name} {status.error}"


def _sort_keys(now: int) -> dict[str, Callable[[TaskStatus], object]]:
    def order(status: TaskStatus) -> tuple[str, str, str]:
        return status.task.name.casefold(), status.project.name.casefold(), status.task.uid

    def state(status: TaskStatus) -> int:
        return _FIRST.index(status.state) if status.state in _FIRST else len(_FIRST)

    return {
        "state": lambda each: (state(each), *order(each)),
        "name": order,
        "space": lambda each: (each.space.name.casefold(), *order(each)),
        "duration": lambda each: (each.duration(now) or -1, *order(each)),
        "rows": lambda each: (-1 if each.rows is None else each.rows, *order(each)),
        "latency": lambda each: (each.latency(now) or -1, *order(each)),
    }


def _stats(found: Sequence[TaskStatus]) -> list[tuple[str, str, str]]:
    """Return how many tasks need somebody: a label, the number, and the filter that lists them."""
    counted = {
        "Failed": (states.FAILED, [each for each in found if each.state == states.FAILED]),
        "Running": (states.RUNNING, [each for each in found if each.state == states.RUNNING]),
        "Owner lacks role": (LACKS_ROLE, [each for each in found if each.owner_lacks_role]),
    }
    return [(label, format_count(len(some)), state) for label, (state, some) in counted.items()]


def _row(ctx: RequestContext, status: TaskStatus) -> MonitorRow:
    uid = status.task.uid
    # It names a space, which others may not see, to those who can have it mended.
    missing = (
        owner_context.missing_roles(ctx, uid) if status.owner_lacks_role and owner_context.may_mend(ctx, uid) else []
    )
    return MonitorRow(
        status=status,
        duration=status.duration(ctx.at),
        latency=status.latency(ctx.at),
        may_operate=ctx.session.check(ctx.principal, "stop", uid),
        missing=missing[0].text if missing else "",
    )


@dataclass(frozen=True, slots=True)
class BulkOutcome:
    """The outcome for one of the chosen tasks."""

    task: ResourceRef
    run: str
    """The run that was started or stopped; empty if it was refused."""
    error: LakeholdError | None


@routes.post("/run")
def run_tasks(request: Request, sent: SubmittedForm) -> Response:
    """Run the chosen tasks."""
    outcomes = _for_each(request, _chosen_tasks(sent), lambda ctx, uid: RUNS.start(ctx, uid).id)
    return _answer(request, outcomes, "started")


@routes.post("/stop")
def stop_tasks(request: Request, sent: SubmittedForm) -> Response:
    """Stop the runs of the chosen tasks."""
    return _answer(request, _for_each(request, _chosen_tasks(sent), _stop), "stopped")


def _chosen_tasks(sent: SubmittedForm) -> list[str]:
    chosen = list(dict.fromkeys(str(each) for each in sent.getlist("task")))
    if not chosen:
        raise InvalidInputError("No task is selected.", "Select tasks in the list first.", field="task")
    if len(chosen) > _MOST_AT_ONCE:
        message = f"{len(chosen)} tasks are selected."
        raise InvalidInputError(message, f"Select {_MOST_AT_ONCE} at most.", field="task")
    return chosen


def _for_each(request: Request, chosen: Sequence[str], do: Callable[[RequestContext, str], str]) -> list[BulkOutcome]:
    # All are looked up first: what is hidden or no task refuses the whole form, before anything is done.
    tasks = read_transaction(request).run(lambda ctx: [monitor.need_task(ctx, uid) for uid in chosen])
    outcomes = []
    for task in tasks:
        try:
            run = write_transaction(request).run(lambda ctx, uid=task.uid: do(ctx, uid))  # type: ignore[misc]
            outcomes.append(BulkOutcome(task, run, None))
        except LakeholdError as error:
            outcomes.append(BulkOutcome(task, "", error))
    return outcomes


def _stop(ctx: RequestContext, uid: str) -> str:
    """Stop the runs of a task itself, and return the last of them. A run of its project is stopped as a whole."""
    ctx.need("stop", uid)
    found = [run for run in RUNS.page(ctx, resource=uid, limit=10) if run.state in states.OPEN - {states.STOPPING}]
    if not found:
        hint = "If it runs as a part of its project, stop the run of the project."
        raise ConflictError("No run of the task itself is queued or running.", hint)
    for run in found:
        RUNS.stop(ctx, run.id)
    return found[0].id


def _answer(request: Request, outcomes: Sequence[BulkOutcome], done: str) -> Response:
    refused = [each for each in outcomes if each.error]
    if not refused:
        return pages.redirect(request, MONITOR, Flash(f"{format_count(len(outcomes), 'task')} {done}."))
    values: dict[str, object] = {
        "done": [each for each in outcomes if not each.error],
        "refused": refused,
        "verb": done,
        "monitor": MONITOR,
    }
    return pages.render(
        request, "spaces/bulk_outcome.html", values, status=200 if len(refused) < len(outcomes) else 422
    )
