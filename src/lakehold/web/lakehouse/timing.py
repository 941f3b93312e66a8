"""When something runs, as a form says it: at times that most people want, or by a schedule that one writes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from starlette.datastructures import FormData

from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.errors import InvalidInputError
from lakehold.runs.scheduler.schedule import TriggerSchedule

BY_HAND, OWN = "hand", "own"
EVERY = (
    ("hour", "Every hour", "At the full hour."),
    ("day", "Every day", "At the time below."),
    ("weekday", "Monday to Friday", "At the time below."),
    ("week", "Every Monday", "At the time below."),
    (OWN, "My own schedule", "Minute, hour, day, month, weekday."),
)
_DAYS = {"day": "*", "weekday": "1-5", "week": "1"}
_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_PLAIN = re.compile(r"(\d{1,2}) (\d{1,2}) \* \* (\*|1-5|1)")
_HOURLY = "0 * * * *"


@dataclass(frozen=True, slots=True)
class Timing:
    """The form as it is filled in."""

    every: str = BY_HAND
    at: str = "06:00"
    cron: str = ""
    zone: str = "UTC"

    def when(self) -> TriggerSchedule:
        """What it means; refused if it is no time."""
        if self.every == "hour":
            return TriggerSchedule(_HOURLY, self.zone)
        if self.every not in _DAYS:
            return TriggerSchedule(self.cron, self.zone)
        return TriggerSchedule(f"{int(self.at[-2:])} {int(self.at[:-3])} * * {_DAYS[self.every]}", self.zone)

    def errors(self, *, may_rest: bool = False) -> dict[str, str]:
        """What is wrong with it, by field. Where it `may_rest`, it can be run by hand alone."""
        if self.every in _DAYS and not _TIME.fullmatch(self.at):
            return {"at": "Write a time such as 06:30."}
        if self.every == BY_HAND and may_rest:
            return {}
        if self.every not in {OWN, "hour", *_DAYS}:
            return {"every": "Choose one of these."}
        if self.every == OWN and not self.cron:
            return {"cron": "Write a schedule, such as 30 6 * * 1-5."}
        try:
            self.when().validate()
        except InvalidInputError as error:
            return {"zone" if "time zone" in error.message else "cron": str(error)}
        return {}


def sent(form: FormData) -> Timing:
    """What came in."""

    def text(name: str) -> str:
        return str(form.get(name, "")).strip()

    cron = text("cron")
    return Timing(text("every") or (OWN if cron else BY_HAND), text("at"), cron, text("zone") or "UTC")


def present(when: TriggerSchedule) -> Timing:
    """A schedule that is there, as it is filled in."""
    if when.cron == _HOURLY:
        return Timing("hour", zone=when.zone, cron=when.cron)
    found = _PLAIN.fullmatch(when.cron)
    if found is None:
        return Timing(OWN, cron=when.cron, zone=when.zone)
    every = next(word for word, days in _DAYS.items() if days == found[3])
    return Timing(every, f"{int(found[2]):02}:{int(found[1]):02}", when.cron, when.zone)


def upcoming(when: TriggerSchedule, now: Moment, count: int = 5) -> list[str]:
    """The next times at which it is due, on the clocks of its zone. None if it never is."""
    found: list[str] = []
    here = datetime.fromtimestamp(now / SECOND, UTC)
    for _ in range(count):
        try:
            here = when.next_time(here)
        except InvalidInputError:
            return found
        found.append(f"{here:%A, %d %B %Y, %H:%M}")
    return found
