"""Labels for people: states and causes of runs, durations and sizes."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.errors import NotFoundError
from lakehold.runs import run_table as states
from lakehold.runs.run_table import parse_cause
from lakehold.runs.service import Run
from lakehold.web.runs.services import RUNS
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
class RunCause:
    """The reason for a run. `run` and `name` are those of the previous run, if the reader may see it."""

    words: str
    run: str = ""
    name: str = ""


def run_cause(ctx: RequestContext, run: Run) -> RunCause:
    """Return why a run was started, without naming a run that the reader may not see."""
    cause = parse_cause(run.cause)
    if cron := cause.cron:
        words = schedule_form.describe_cron(cron)
        return RunCause(f"By schedule: {words[:1].lower()}{words[1:]} ({cause.zone})")
    if not cause.run:
        return RunCause(f"{cause.text[:1].upper()}{cause.text[1:]}")
    label = str(cause.kind).capitalize()
    try:
        other = RUNS.get(ctx, cause.run)
    except NotFoundError:
        return RunCause(f"{label} another run")
    name = ctx.view.names.get(ctx.view.resource(other.resource)) or ""
    return RunCause(label, other.id, "the run before it" if other.resource == run.resource else name)


def visible_member(eyes: VisibleRefs, member: str) -> ResourceRef | None:
    """Return the member that a run is for, or None if the reader may not see them."""
    return eyes.ref(member)


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
