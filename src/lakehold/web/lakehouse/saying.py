"""States, causes, durations and sizes in words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.errors import NotFoundError
from lakehold.runs import run_table as states
from lakehold.runs.service import Run
from lakehold.web.lakehouse import schedules
from lakehold.web.lakehouse.doing import RUNS

TONES = {
    states.QUEUED: "neutral",
    states.WAITING: "neutral",
    states.RUNNING: "accent",
    states.STOPPING: "warn",
    states.SUCCEEDED: "good",
    states.FAILED: "bad",
    states.STOPPED: "warn",
}
SIGNS = {
    states.QUEUED: "clock",
    states.WAITING: "clock",
    states.RUNNING: "loader-circle",
    states.STOPPING: "loader-circle",
    states.SUCCEEDED: "circle-check",
    states.FAILED: "circle-x",
    states.STOPPED: "square",
}
MEANINGS = {
    states.QUEUED: "It begins as soon as a worker has room.",
    states.WAITING: "Another run that came first writes the same table. It begins after that one.",
    states.RUNNING: "A worker is at it.",
    states.STOPPING: "It ends as soon as the worker can leave off.",
    states.SUCCEEDED: "All of it was done.",
    states.FAILED: "It broke off. What was written whole stays.",
    states.STOPPED: "Somebody stopped it. What was written whole stays.",
}
_OTHER = re.compile(r"(again after|after) (run_[0-9a-f]+)")
_SCHEDULE = re.compile(r"by schedule (.+) (\S+)")
_MINUTE, _HOUR = 60, 3600
_UNITS = ("bytes", "kB", "MB", "GB", "TB")
_STEP = 1000


@dataclass(frozen=True, slots=True)
class Cause:
    """Why it was run; `run` and `name` are of the run before it, if the reader sees that one."""

    words: str
    run: str = ""
    name: str = ""


def cause(ctx: RequestContext, run: Run) -> Cause:
    """Why it was run, without the name of a run that the reader may not see."""
    if due := _SCHEDULE.fullmatch(run.cause):
        return Cause(f"By schedule: {_lowered(schedules.said(due[1]))} ({due[2]})")
    found = _OTHER.fullmatch(run.cause)
    if found is None:
        return Cause(f"{run.cause[:1].upper()}{run.cause[1:]}")
    try:
        other = RUNS.get(ctx, found[2])
    except NotFoundError:
        return Cause(f"{found[1].capitalize()} another run")
    name = ctx.view.names.get(ctx.view.resource(other.resource)) or ""
    return Cause(found[1].capitalize(), other.id, "the run before it" if other.resource == run.resource else name)


def _lowered(words: str) -> str:
    return words[:1].lower() + words[1:]


def whom(eyes: VisibleRefs, member: str) -> ResourceRef | None:
    """Whom it is for, if the reader may know of them."""
    return eyes.ref(member)


def took(started: Moment | None, ended: Moment | None, now: Moment) -> str:
    """`4.2 s`, `3 min 5 s`: until its end, or until now."""
    if started is None:
        return ""
    return duration(max((ended or now) - started, 0))


def duration(span: Moment) -> str:
    """`0.3 s`, `42 s`, `3 min 5 s`, `2 h 10 min`."""
    seconds = span / SECOND
    if seconds < 10:  # noqa: PLR2004 - short enough that tenths matter
        return f"{seconds:.1f} s"
    whole = int(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"


def size(number: int) -> str:
    """`0 bytes`, `12.5 kB`."""
    value, unit = float(number), 0
    while value >= _STEP and unit < len(_UNITS) - 1:
        value, unit = value / _STEP, unit + 1
    return f"{number:,} {'byte' if number == 1 else 'bytes'}" if unit == 0 else f"{value:,.1f} {_UNITS[unit]}"
