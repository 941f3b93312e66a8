"""Runs of pipelines: start, stop, resume, retry, reload, backfill, delete; their state and their logs.

A run is inserted in the transaction of the member who starts it, and runs as that member or as who saved the trigger.
Access is checked again when it starts.
"""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from lakehold.catalog import kinds
from lakehold.catalog.kinds import RequiredRight
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import ConflictError, ForbiddenError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.runs import run_table as states
from lakehold.runs.cause import CauseKind, RunCause
from lakehold.runs.run_plan import plan_run
from lakehold.runs.run_table import RunRow, load_cause, run_log_table, run_output_table, run_step_table, run_table
from lakehold.runs.runnable import BackfillSpan, Runnable, RunnableRegistry, RunOptions

MANUAL_CAUSE = RunCause(CauseKind.MANUAL)
_MAX_MATCHES = 500


@dataclass(frozen=True, slots=True)
class StepState:
    """A step of a run and its state."""

    number: int
    name: str
    state: str
    rows: int
    size: int
    bad: int
    error: str
    started_at: Moment | None
    ended_at: Moment | None


@dataclass(frozen=True, slots=True)
class Run:
    """A run and its state."""

    id: str
    resource: str
    kind: str
    state: str
    cause: RunCause
    started_by: str
    tries: int
    error: str
    made_at: Moment
    started_at: Moment | None
    ended_at: Moment | None
    reload: bool
    span: BackfillSpan | None = None
    """The range of cursor values to load again."""
    steps: tuple[StepState, ...] = ()


@dataclass(frozen=True, slots=True)
class RunLogLine:
    """A line of a run's log."""

    n: int
    step: int
    at: Moment
    level: str
    text: str


class Runs:
    """The runs of the platform, for all kinds that can be run."""

    def __init__(self, runnables: RunnableRegistry) -> None:
        self.runnables = runnables

    def start(
        self, ctx: RequestContext, uid: str, options: RunOptions | None = None, *, cause: RunCause | None = None
    ) -> Run:
        """Start a run as the caller."""
        ctx.need_writable()
        runnable = self.runnables.for_resource(ctx, uid)
        checked = (options or RunOptions()).validate()
        need_start(ctx, runnable, uid, checked)
        # Checked now too, so that an invalid run is refused at once and not only in the background.
        plan_run(ctx, runnable, uid, checked)
        started_for = cause or (RunCause(CauseKind.BACKFILL) if checked.span else MANUAL_CAUSE)
        run = self.insert(ctx, uid, checked, cause=started_for)
        # A caller who may run a report without seeing its data mart learns that it was started, and no more.
        return _build_run(ctx, ctx.rows(run_table).select(run_table.c.id == run).one())

    def insert(self, ctx: RequestContext, uid: str, options: RunOptions, *, cause: RunCause) -> str:
        """Insert a run and return its id; access is checked when it begins."""
        view, run = ctx.view, f"run_{secrets.token_hex(8)}"
        runnable = self.runnables[view.kind(view.resource(uid))]
        workspace = kinds.workspace_of(view, uid) or uid
        number = ctx.rows(run_table).insert(
            id=run,
            tenant=ctx.caller.tenant,
            resource_id=view.resource(uid),
            workspace_id=view.resource(workspace),
            kind=runnable.kind,
            state=states.QUEUED,
            cause_kind=cause.kind.value,
            cause_run=cause.run,
            cause_cron=cause.cron,
            cause_zone=cause.zone,
            started_by=ctx.caller.member,
            caller=json.dumps(ctx.caller.to_stored()),
            options=json.dumps(options.to_json()),
            tries=0,
            error="",
            made_at=ctx.at,
        )
        for output in sorted(set(runnable.locks(ctx, uid, options))):
            ctx.rows(run_output_table).insert(run=number, resource_id=view.resource(output))
        action = "reload" if options.reload else "backfill" if options.span else "run"
        ctx.note(action, uid, after={"run": run, "cause": cause.text, **runnable.run_details(ctx, uid)})
        return run

    def stop(self, ctx: RequestContext, run: str) -> Run:
        """Stop a run. What it has written completely stays."""
        row = self._stoppable_row(ctx, run)
        if row.state not in states.OPEN:
            hint = "Only queued or running runs can be stopped."
            raise ConflictError(f"The run {quote(run)} has {row.state} already.", hint)
        if row.state in states.BUSY:
            _update_run(ctx, row, state=states.STOPPING)
        else:
            _update_run(ctx, row, state=states.STOPPED, ended_at=ctx.at)
        ctx.note("stop run", _resource(ctx, row), after={"run": run})
        return self.get(ctx, run)

    def resume(self, ctx: RequestContext, run: str) -> Run:
        """Resume a run behind the last step that succeeded, as the caller."""
        row = self._stoppable_row(ctx, run)
        if row.state not in {states.FAILED, states.STOPPED}:
            raise ConflictError(f"The run {quote(run)} is {row.state}.", "Only failed or stopped runs can be resumed.")
        plan_run(ctx, self.runnables[row.kind], _resource(ctx, row), load_options(row))
        caller = json.dumps(ctx.caller.to_stored())
        _update_run(ctx, row, state=states.QUEUED, error="", ended_at=None, caller=caller, tries=row.tries + 1)
        details = self.runnables[row.kind].run_details(ctx, _resource(ctx, row))
        ctx.note("resume run", _resource(ctx, row), after={"run": run, **details})
        return self.get(ctx, run)

    def retry(self, ctx: RequestContext, run: str) -> Run:
        """Start a new run with the same options."""
        row = self._stoppable_row(ctx, run)
        return self.start(ctx, _resource(ctx, row), load_options(row), cause=RunCause(CauseKind.RETRY, run))

    def delete(self, ctx: RequestContext, run: str) -> None:
        """Delete a run with its steps and log; what it has written or sent stays."""
        ctx.need_writable()
        row = self._visible_row(ctx, run)
        uid = _resource(ctx, row)
        right = self.runnables[row.kind].delete_right(ctx, uid)
        if right is None:
            raise ForbiddenError("Nobody may delete this run.", "Its model has no action for that.")
        ctx.need(right.action, right.resource)
        if row.state in states.OPEN:
            raise ConflictError(f"The run {quote(run)} is {row.state}.", "Stop it first.")
        delete_run_rows(ctx, row.n)
        ctx.note("delete run", uid, before={"run": run, "state": row.state, "cause": load_cause(row).text})

    def right_to_stop(self, ctx: RequestContext, kind: str, uid: str) -> RequiredRight:
        """Return the right that lets the caller stop its runs, or the one that would."""
        rights = self.runnables[kind].stop_rights(ctx, uid)
        return next((right for right in rights if kinds.has_right(ctx, right)), rights[0])

    def get(self, ctx: RequestContext, run: str) -> Run:
        """Return a run with its steps."""
        row = self._visible_row(ctx, run)
        c = run_step_table.c
        found = ctx.rows(run_step_table).select(c.run == row.n, order_by=(c.number,))
        steps = tuple(StepState(**{name: each[name] for name in _STEP}) for each in found.mappings())
        return _build_run(ctx, row, steps)

    def page(
        self,
        ctx: RequestContext,
        *,
        resource: str | None = None,
        among: Sequence[str] | None = None,
        within: str | None = None,
        state: str | None = None,
        by: str | None = None,
        search: str = "",
        before: str | None = None,
        limit: int = 50,
    ) -> list[Run]:
        """Return runs that the caller may see, newest first; `search` is a part of the name of the resource."""
        c = run_table.c
        where = self._scope_filter(ctx, resource, within)
        if among is not None:
            where.append(c.resource_id.in_([ctx.view.resource(uid) for uid in among]))
        if state is not None:
            where.append(c.state == state)
        if by is not None:
            where.append(c.started_by == by)
        if search:
            where.append(c.resource_id.in_(self._matching_resources(ctx, within, search)))
        behind = self._visible_row(ctx, before).n if before is not None else None
        found: list[Run] = []
        seen: dict[int, bool] = {}
        while len(found) < limit:
            older = sa.true() if behind is None else c.n < behind
            rows = ctx.rows(run_table).select(*where, older, order_by=(c.n.desc(),), limit=limit * 2).all()
            for row in rows:
                if row.resource_id not in seen:
                    seen[row.resource_id] = self._is_visible(ctx, row)
                if seen[row.resource_id]:
                    found.append(_build_run(ctx, row))
            if len(rows) < limit * 2:
                break
            behind = rows[-1].n
        return found[:limit]

    def last_runs(self, ctx: RequestContext, uids: Sequence[str]) -> dict[str, Run]:
        """Return the newest run of each resource, where there is one that the caller may see."""
        c = run_table.c
        mine = sa.and_(c.tenant_id == ctx.session.tenant, c.resource_id.in_([ctx.view.resource(uid) for uid in uids]))
        newest = sa.select(sa.func.max(c.n)).where(mine).group_by(c.resource_id)
        rows = ctx.rows(run_table).select(c.n.in_(newest))
        return {_resource(ctx, row): _build_run(ctx, row) for row in rows if self._is_visible(ctx, row)}

    def log_lines(self, ctx: RequestContext, run: str, *, after: int = 0, limit: int = 500) -> list[RunLogLine]:
        """Return the lines of a run's log, oldest first."""
        row, c = self._visible_row(ctx, run), run_log_table.c
        known = self._known_lines(ctx, row)
        found = ctx.rows(run_log_table).select(c.run == row.n, c.n > after, *known, order_by=(c.n,), limit=limit)
        return [_build_line(each) for each in found]

    def last_log_lines(self, ctx: RequestContext, run: str, *, limit: int = 200) -> list[RunLogLine]:
        """Return the last lines of a run's log, the oldest of them first."""
        row, c = self._visible_row(ctx, run), run_log_table.c
        known = self._known_lines(ctx, row)
        found = ctx.rows(run_log_table).select(c.run == row.n, *known, order_by=(c.n.desc(),), limit=limit).all()
        return [_build_line(each) for each in reversed(found)]

    def _known_lines(self, ctx: RequestContext, row: RunRow) -> list[sa.ColumnElement[bool]]:
        """Return the condition on the log lines that the caller may read: private ones need rights of their own.

        They can have values of rows, which are not shown to whoever impersonates a member.
        """
        runnable = self.runnables[row.kind]
        needed = runnable.private_rights(ctx, _resource(ctx, row)) if runnable.private_errors else ()
        is_visible = all(ctx.session.check(ctx.principal, *right) for right in needed)
        if not needed or (is_visible and not ctx.caller.impersonator):
            return []
        return [run_log_table.c.level != states.PRIVATE]

    def _scope_filter(
        self, ctx: RequestContext, resource: str | None, within: str | None
    ) -> list[sa.ColumnElement[bool]]:
        c, where = run_table.c, list[sa.ColumnElement[bool]]()
        if resource is not None:
            ctx.need(self.runnables.for_resource(ctx, resource).see, resource)
            where.append(c.resource_id == ctx.view.resource(resource))
        if within is not None:
            ctx.need_visible(within)
            where.append(c.workspace_id == ctx.view.resource(within))
        return where

    def _matching_resources(self, ctx: RequestContext, within: str | None, search: str) -> list[int]:
        policy, found = ctx.view.policy, list[int]()
        for kind in self.runnables:
            sight = policy.kind(kind).schema.visible
            some = ctx.session.list(ctx.principal, sight, kind, within=within, search=search, limit=_MAX_MATCHES)
            found += [each.id for each in some.items]
        return found

    def _stoppable_row(self, ctx: RequestContext, run: str) -> RunRow:
        ctx.need_writable()
        row = self._visible_row(ctx, run)
        ctx.need(*self.right_to_stop(ctx, row.kind, _resource(ctx, row)))
        return row

    def _visible_row(self, ctx: RequestContext, run: str) -> RunRow:
        row = ctx.rows(run_table).select(run_table.c.id == run).one_or_none()
        if row is None or not self._is_visible(ctx, row):
            raise NotFoundError(f"There is no run {quote(run)}.", "Check the ID.")
        return row

    def _is_visible(self, ctx: RequestContext, row: RunRow) -> bool:
        uid = ctx.view.uids.get(row.resource_id)
        if uid is None or row.kind not in self.runnables:
            return False
        runnable, sees = self.runnables[row.kind], ctx.session.can_see
        if not sees(ctx.principal, uid) or not ctx.session.check(ctx.principal, runnable.see, uid):
            return False
        through = runnable.visible_through(ctx, uid)
        # Of the member: a token that is narrowed to a report knows of its runs.
        return through == uid or sees(ctx.caller.member, through)


def need_start(ctx: RequestContext, runnable: Runnable, uid: str, options: RunOptions) -> None:
    """Refuse unless the caller may start such a run. The platform itself runs only steps that check no rights."""
    if not ctx.caller.member:
        return
    runnable.need_start(ctx, uid, options)
    if options.reload or options.span:
        ctx.need(runnable.stop, uid)


def delete_run_rows(ctx: RequestContext, number: int) -> None:
    """Delete all rows of a run."""
    for table in (run_log_table, run_step_table, run_output_table):
        ctx.rows(table).delete(table.c.run == number)
    ctx.rows(run_table).delete(run_table.c.n == number)


def load_options(row: RunRow) -> RunOptions:
    """Return the options of a run."""
    return RunOptions.from_json(json.loads(row.options))


def _resource(ctx: RequestContext, row: RunRow) -> str:
    return ctx.view.uid(row.resource_id)


def _update_run(ctx: RequestContext, row: RunRow, **values: object) -> None:
    ctx.rows(run_table).update(run_table.c.n == row.n, **values)


def _build_line(row: sa.Row[Any]) -> RunLogLine:
    level = "error" if row.level == states.PRIVATE else row.level
    return RunLogLine(row.n, row.step, row.at, level, row.text)


def _build_run(ctx: RequestContext, row: RunRow, steps: Sequence[StepState] = ()) -> Run:
    values = {name: getattr(row, name) for name in _RUN}
    options = load_options(row)
    return Run(
        resource=_resource(ctx, row),
        cause=load_cause(row),
        reload=options.reload,
        span=options.span,
        steps=tuple(steps),
        **values,
    )


_RUN = ("id", "kind", "state", "started_by", "tries", "error", "made_at", "started_at", "ended_at")
_STEP = ("number", "name", "state", "rows", "size", "bad", "error", "started_at", "ended_at")
