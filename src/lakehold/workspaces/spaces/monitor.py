"""The monitor: every task of all data spaces that the caller may see, with the run that last concerned it.

A task runs by itself, or as a part of its project: the steps that are its own count. Everything is loaded by a few
queries, however many tasks there are, and only what the access filter lists.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from lakehold.access.facts.view import FactView
from lakehold.catalog import resource_metadata, workspaces
from lakehold.catalog.resource_view import ResourceRef, make_ref
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.runs import run_table as states
from lakehold.runs.run_table import run_output_table, run_step_table, run_table
from lakehold.workspaces.spaces import owner_context
from lakehold.workspaces.spaces.datasets import DesignState, design_state
from lakehold.workspaces.spaces.settings import PROJECT_KIND, SPACE_KIND, TASK_KIND

NEVER = "never run"
LACKS_ROLE = "owner lacks role"
"""The state of a task whose next run is refused, because the owner of its project lacks a role."""
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class LastRun:
    """The run that last concerned a task, as far as it is about that task."""

    id: str
    state: str
    started_at: Moment | None
    ended_at: Moment | None
    rows: int
    error: str
    of_project: bool
    """Whether it was a run of the whole project."""


@dataclass(frozen=True, slots=True)
class TaskStatus:
    """A task in the monitor."""

    task: ResourceRef
    project: ResourceRef
    space: ResourceRef
    design: DesignState
    owner_lacks_role: bool
    sees_runs: bool
    """Whether the caller may see runs of the task; without, the next two are unknown."""
    last: LastRun | None
    succeeded_at: Moment | None
    """When all of its data was last loaded."""

    @property
    def state(self) -> str:
        """The state of its last run."""
        return self.last.state if self.last else NEVER

    @property
    def error(self) -> str:
        """The error of its last run, if that failed."""
        return self.last.error if self.last else ""

    @property
    def rows(self) -> int | None:
        """The rows that its last run has written."""
        return self.last.rows if self.last else None

    def duration(self, now: Moment) -> Moment | None:
        """Return how long its last run took, or takes."""
        if self.last is None or self.last.started_at is None:
            return None
        return max((self.last.ended_at or now) - self.last.started_at, 0)

    def latency(self, now: Moment) -> Moment | None:
        """Return the time since its data was last loaded."""
        return None if self.succeeded_at is None else max(now - self.succeeded_at, 0)


def load(ctx: RequestContext, spaces: Iterable[str] | None = None) -> list[TaskStatus]:
    """Return all tasks that the caller may list, or those of some spaces."""
    among = None if spaces is None else {ctx.view.resource(uid) for uid in spaces}
    numbers = ctx.session.ids(ctx.principal, "list", TASK_KIND)
    places = ctx.session.read_view(lambda view: {each: _place(view, each) for each in numbers})
    places = {task: place for task, place in places.items() if among is None or place[1] in among}
    opened = set(ctx.session.ids(ctx.principal, "open", TASK_KIND)) & places.keys()
    known = sorted(opened)
    runs = _last_runs(ctx, known)
    succeeded = _concerning(ctx, known, run_table.c.ended_at, run_table.c.state == states.SUCCEEDED, _IS_LOAD)
    settings = resource_metadata.load_many(ctx, places)
    refs = ctx.session.read_view(
        lambda view: {n: make_ref(view, view.uid(n)) for task, place in places.items() for n in (task, *place)}
    )
    return [
        TaskStatus(
            task=refs[task],
            project=refs[project],
            space=refs[space],
            design=design_state(settings[task].settings) if task in settings else DesignState.NEW,
            owner_lacks_role=not _runs_as_owner(ctx, refs[task].uid, refs[project].uid),
            sees_runs=task in opened,
            last=runs.get(task),
            succeeded_at=succeeded.get(task),
        )
        for task, (project, space) in places.items()
    ]


def need_space(ctx: RequestContext, uid: str) -> ResourceRef:
    """Return a data space, or refuse what is none."""
    return workspaces.need_workspace(ctx, uid, SPACE_KIND)


def need_task(ctx: RequestContext, uid: str) -> ResourceRef:
    """Return a task, or refuse what is none."""
    ctx.need_visible(uid)
    found = make_ref(ctx.view, uid)
    if found.kind != TASK_KIND:
        raise InvalidInputError(f"{quote(uid)} is not a data task.", "Choose tasks of the list.", field="task")
    return found


def _place(view: FactView, task: int) -> tuple[int, int]:
    """Return the project and the space of a task."""
    (project,) = view.edges_out["project"].get(task) or ()
    (space,) = view.edges_out["space"].get(project) or ()
    return project, space


def _runs_as_owner(ctx: RequestContext, task: str, project: str) -> bool:
    """Whether the owner of the project has the roles that the task needs."""
    owner = owner_context.owner_of(ctx, project)
    return bool(owner) and ctx.session.holds(owner, "owner_context", task) and ctx.session.holds(owner, "own", task)


_IS_LOAD = sa.not_(run_table.c.options.contains('"do":'))
"""Whether a run loads data, and does not prepare a task or keep up a table."""


def _concerning(
    ctx: RequestContext, tasks: Sequence[int], value: sa.ColumnElement[Any], *where: sa.ColumnElement[bool]
) -> dict[int, int]:
    """Return the greatest value of all runs that concern a task, its own and those of its project, by task."""
    c, out = run_table.c, run_output_table.c
    found: dict[int, int] = {}
    for some in _chunks(tasks):
        query = (
            sa.select(out.resource_id, sa.func.max(value))
            .join(run_table, c.n == out.run)
            .where(out.tenant_id == ctx.session.tenant, out.resource_id.in_(some))
            .where(c.tenant_id == ctx.session.tenant, c.kind.in_((TASK_KIND, PROJECT_KIND)), *where)
            .group_by(out.resource_id)
        )
        found |= {task: most for task, most in ctx.session.transaction.connection.execute(query) if most}
    return found


def _last_runs(ctx: RequestContext, tasks: Sequence[int]) -> dict[int, LastRun]:
    newest = _concerning(ctx, tasks, run_table.c.n)
    numbers = sorted(set(newest.values()))
    rows = {row.n: row for some in _chunks(numbers) for row in ctx.rows(run_table).select(run_table.c.n.in_(some))}
    steps = _load_steps(ctx, numbers)
    parts = {number: _by_task(steps[number]) for number, run in rows.items() if run.kind == PROJECT_KIND}
    found: dict[int, LastRun] = {}
    for task, number in newest.items():
        run = rows[number]
        mine = parts[number].get(ctx.view.uid(task), ()) if number in parts else None
        found[task] = _whole(run, steps[number]) if mine is None else _part_of(run, mine)
    return found


def _chunks(numbers: Sequence[int]) -> Iterable[Sequence[int]]:
    return (numbers[start : start + _AT_ONCE] for start in range(0, len(numbers), _AT_ONCE))


def _load_steps(ctx: RequestContext, runs: Sequence[int]) -> Mapping[int, list[sa.Row[Any]]]:
    found: dict[int, list[sa.Row[Any]]] = defaultdict(list)
    for some in _chunks(runs):
        for step in ctx.rows(run_step_table).select(run_step_table.c.run.in_(some)):
            found[step.run].append(step)
    return found


def _by_task(steps: Iterable[sa.Row[Any]]) -> Mapping[str, list[sa.Row[Any]]]:
    """Return the steps of a project's run by task."""
    found: dict[str, list[sa.Row[Any]]] = defaultdict(list)
    for step in steps:
        found[_task_of(step)].append(step)
    return found


def _task_of(step: sa.Row[Any]) -> str:
    """Return the task of a step of a project's run."""
    return str(json.loads(step.plan)["fields"].get("task", "")) if step.plan else ""


def _whole(run: sa.Row[Any], steps: Sequence[sa.Row[Any]]) -> LastRun:
    rows = sum(step.rows for step in steps)
    return LastRun(run.id, run.state, run.started_at, run.ended_at, rows, run.error, of_project=False)


def _part_of(run: sa.Row[Any], steps: Sequence[sa.Row[Any]]) -> LastRun:
    """Return what a run of a project was for one task: the state of its own steps, and their time."""
    begun = [step.started_at for step in steps if step.started_at]
    ended = [step.ended_at for step in steps if step.ended_at]
    each = {step.state for step in steps}
    if each == {states.SUCCEEDED}:
        state = states.SUCCEEDED
    else:
        state = next((one for one in (states.FAILED, states.RUNNING, states.STOPPED) if one in each), run.state)
    over = state in states.ENDED
    error = next((step.error for step in steps if step.error), "" if begun else run.error)
    return LastRun(
        id=run.id,
        state=state,
        started_at=min(begun, default=None),
        ended_at=max(ended, default=run.ended_at) if over else None,
        rows=sum(step.rows for step in steps),
        error=error if state != states.SUCCEEDED else "",
        of_project=True,
    )
