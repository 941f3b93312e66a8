"""Labels for people: states and causes of runs, durations and sizes."""

from dataclasses import dataclass

from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.errors import NotFoundError
from lakehold.runs import run_table as states
from lakehold.runs.cause import CauseKind
from lakehold.runs.service import Run
from lakehold.web.runs import RUNS
from lakehold.web.schedules import schedule_form

_STATES = {
    states.QUEUED: ("neutral", "clock", "Waiting for a free worker."),
    states.WAITING: ("neutral", "clock", "Waiting for another run that writes the same table."),
    states.RUNNING: ("accent", "loader-circle", "Running."),
    states.STOPPING: ("warn", "loader-circle", "Stopping."),
    states.SUCCEEDED: ("good", "circle-check", "Completed."),
    states.FAILED: ("bad", "circle-x", "Failed. Completed writes are kept."),
    states.STOPPED: ("warn", "square", "Stopped by a member. Completed writes are kept."),
}
TONES = {state: tone for state, (tone, _, _) in _STATES.items()}
ICONS = {state: icon for state, (_, icon, _) in _STATES.items()}
DESCRIPTIONS = {state: text for state, (_, _, text) in _STATES.items()}
_MINUTE, _HOUR = 60, 3600
_UNITS = ("bytes", "kB", "MB", "GB", "TB")
_STEP = 1000


@dataclass(frozen=True, slots=True)
class CauseLabel:
    """Why a run was started. `run` and `name` are those of the previous run, if the reader may see it."""

    words: str
    run: str = ""
    name: str = ""


def run_cause(ctx: RequestContext, run: Run) -> CauseLabel:
    """Return why a run was started, without naming a run that the reader may not see."""
    cause, schedule = run.cause, schedule_form.describe_cron(run.cause.cron)
    try:
        other = RUNS.get(ctx, cause.run) if cause.run else None
    except NotFoundError:
        other = None
    if other is None:
        return CauseLabel(cause.label(schedule=schedule[:1].lower() + schedule[1:]))
    name = ctx.view.names.get(ctx.view.resource(other.resource)) or ""
    return CauseLabel(cause.label(run=""), other.id, "an earlier run" if cause.kind is CauseKind.RETRY else name)


def run_duration(started: Moment | None, ended: Moment | None, now: Moment) -> str:
    """Format the time from start to end, or to now if it has not ended: `4.2 s`, `3 min 5 s`."""
    return "" if started is None else format_duration(max((ended or now) - started, 0))


def format_duration(span: Moment) -> str:
    """Format a duration: `0.3 s`, `42 s`, `3 min 5 s`, `2 h 10 min`."""
    seconds = span / SECOND
    if seconds < 10:  # noqa: PLR2004 - short enough that tenths matter
        return f"{seconds:.1f} s"
    whole = int(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"


def format_size(number: int) -> str:
    """Format a number of bytes: `0 bytes`, `12.5 kB`."""
    value, unit = float(number), 0
    while value >= _STEP and unit < len(_UNITS) - 1:
        value, unit = value / _STEP, unit + 1
    return f"{number:,} {'byte' if number == 1 else 'bytes'}" if unit == 0 else f"{value:,.1f} {_UNITS[unit]}"
