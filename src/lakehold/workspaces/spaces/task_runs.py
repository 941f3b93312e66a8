"""The run that last concerned a task: its own, or one of its project, of which the steps of the task count."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.runs import run_table as states
from lakehold.runs.run_table import run_output_table, run_step_table, run_table
from lakehold.workspaces.spaces.settings import PROJECT_KIND, TASK_KIND

_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class LastRun:
    """The run that last concerned a task, as far as it is about that task."""

    id: str
    state: str
    made_at: Moment
    started_at: Moment | None
    ended_at: Moment | None
    rows: int
    error: str
    of_project: bool
    """Whether it was a run of the whole project."""
    done: int
    """The steps of the task that have succeeded."""
    steps: int


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


def load_last_loads(ctx: RequestContext, tasks: Sequence[int]) -> dict[int, Moment]:
    """Return when all data of each task was last loaded, for those of which it was."""
    return _concerning(ctx, tasks, run_table.c.ended_at, run_table.c.state == states.SUCCEEDED, _IS_LOAD)


def load_last_runs(ctx: RequestContext, tasks: Sequence[int]) -> dict[int, LastRun]:
    """Return the run that last concerned each task, as far as it is about that task."""
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
    return LastRun(
        id=run.id,
        state=run.state,
        made_at=run.made_at,
        started_at=run.started_at,
        ended_at=run.ended_at,
        error=run.error,
        of_project=False,
        **_counts(steps),
    )


def _counts(steps: Sequence[sa.Row[Any]]) -> dict[str, int]:
    done = sum(step.state == states.SUCCEEDED for step in steps)
    return {"rows": sum(step.rows for step in steps), "done": done, "steps": len(steps)}


def _part_of(run: sa.Row[Any], steps: Sequence[sa.Row[Any]]) -> LastRun:
    """Return what a run of a project was for one task: the state of its own steps, and their time."""
    begun = [step.started_at for step in steps if step.started_at]
    ended = [step.ended_at for step in steps if step.ended_at]
    state = _part_state(run, {step.state for step in steps})
    over = state in states.ENDED
    error = next((step.error for step in steps if step.error), "" if begun else run.error)
    return LastRun(
        id=run.id,
        state=state,
        made_at=run.made_at,
        started_at=min(begun, default=None),
        ended_at=max(ended, default=run.ended_at) if over else None,
        error=error if state != states.SUCCEEDED else "",
        of_project=True,
        **_counts(steps),
    )


def _part_state(run: sa.Row[Any], each: Collection[str]) -> str:
    """Return the state of a task whose steps in a run of its project have these states."""
    if set(each) == {states.SUCCEEDED}:
        return states.SUCCEEDED
    if first := next((one for one in (states.FAILED, states.RUNNING, states.STOPPED) if one in each), ""):
        return first
    if run.state in states.OPEN:
        return states.RUNNING if states.SUCCEEDED in each else states.QUEUED
    return str(run.state)
