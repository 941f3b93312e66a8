"""The form of a schedule (common times or a cron expression), its description in words, and the time zones."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from zoneinfo import available_timezones

from starlette.datastructures import FormData

from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.errors import InvalidInputError
from lakehold.runs.scheduler.schedule import TriggerSchedule
from lakehold.web.form_values import errors_by_field

_WEEKDAY_NAMES = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_WEEKDAY_LABELS = {
    "*": "every day",
    "1-5": "Monday to Friday",
    **dict.fromkeys(("0,6", "6,0", "6-7"), "on weekends"),
    **{str(number): f"on {name}s" for number, name in enumerate(_WEEKDAY_NAMES)},
}
_NUMBER = re.compile(r"[0-9]{1,2}")
_CRON_FIELDS = 5


def describe_cron(cron: str) -> str:
    """Describe a cron expression: `At 06:30, Monday to Friday`. Returns the expression itself if it is too complex."""
    parts = cron.split()
    if len(parts) != _CRON_FIELDS:
        return cron
    minute, hour, day, month, weekday = parts
    if month != "*":
        return cron
    if (hour, day, weekday) == ("*", "*", "*"):
        return _describe_hourly(minute, cron)
    if not (_NUMBER.fullmatch(minute) and _NUMBER.fullmatch(hour)):
        return cron
    time = f"At {int(hour):02}:{int(minute):02}"
    if day == "*":
        return f"{time}, {_WEEKDAY_LABELS[weekday]}" if weekday in _WEEKDAY_LABELS else cron
    return f"{time}, on day {day} of the month" if weekday == "*" and _NUMBER.fullmatch(day) else cron


def _describe_hourly(minute: str, cron: str) -> str:
    if minute == "*":
        return "Every minute"
    if minute.startswith("*/") and _NUMBER.fullmatch(minute[2:]):
        return f"Every {int(minute[2:])} minutes"
    return f"Every hour at :{int(minute):02}" if _NUMBER.fullmatch(minute) else cron


_REGIONS = ("Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")


@cache
def time_zones() -> list[str]:
    """Return the names of all common time zones, sorted."""
    return sorted(name for name in available_timezones() if name == "UTC" or name.partition("/")[0] in _REGIONS)


BY_HAND, OWN = "hand", "own"
FREQUENCIES = (
    ("hour", "Every hour", "On the hour."),
    ("day", "Every day", "At the time below."),
    ("weekday", "Monday to Friday", "At the time below."),
    ("week", "Every Monday", "At the time below."),
    (OWN, "Custom (cron)", "Minute, hour, day, month, weekday."),
)
_CRON_WEEKDAYS = {"day": "*", "weekday": "1-5", "week": "1"}
_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_PLAIN = re.compile(r"(\d{1,2}) (\d{1,2}) \* \* (\*|1-5|1)")
_HOURLY = "0 * * * *"


@dataclass(frozen=True, slots=True)
class ScheduleForm:
    """The values of the schedule form."""

    every: str = BY_HAND
    at: str = "06:00"
    cron: str = ""
    zone: str = "UTC"

    def to_schedule(self) -> TriggerSchedule:
        """Return the schedule; raise InvalidInputError if it is not valid."""
        if self.every == "hour":
            return TriggerSchedule(_HOURLY, self.zone)
        if self.every not in _CRON_WEEKDAYS:
            return TriggerSchedule(self.cron, self.zone)
        return TriggerSchedule(f"{int(self.at[-2:])} {int(self.at[:-3])} * * {_CRON_WEEKDAYS[self.every]}", self.zone)

    def errors(self, *, may_rest: bool = False) -> dict[str, str]:
        """Return the errors by field. With `may_rest`, a resource that is only run by hand is valid."""
        if self.every in _CRON_WEEKDAYS and not _TIME.fullmatch(self.at):
            return {"at": "Enter a time, such as 06:30."}
        if self.every == BY_HAND and may_rest:
            return {}
        if self.every not in {OWN, "hour", *_CRON_WEEKDAYS}:
            return {"every": "Select an option."}
        if self.every == OWN and not self.cron:
            return {"cron": "Enter a schedule, such as 30 6 * * 1-5."}
        try:
            self.to_schedule().validate()
        except InvalidInputError as error:
            return errors_by_field(error, {"zone": "zone"}, "cron")
        return {}


def parse_schedule_form(form: FormData) -> ScheduleForm:
    """Parse a submitted schedule form."""
    every, at, cron, zone = (str(form.get(name, "")).strip() for name in ("every", "at", "cron", "zone"))
    return ScheduleForm(every or (OWN if cron else BY_HAND), at, cron, zone or "UTC")


def schedule_form_from(when: TriggerSchedule) -> ScheduleForm:
    """Return the form for an existing schedule."""
    if when.cron == _HOURLY:
        return ScheduleForm("hour", zone=when.zone, cron=when.cron)
    found = _PLAIN.fullmatch(when.cron)
    if found is None:
        return ScheduleForm(OWN, cron=when.cron, zone=when.zone)
    every = next(word for word, days in _CRON_WEEKDAYS.items() if days == found[3])
    return ScheduleForm(every, f"{int(found[2]):02}:{int(found[1]):02}", when.cron, when.zone)


def next_times(when: TriggerSchedule, now: Moment, count: int = 5) -> list[str]:
    """Return the next times at which a schedule is due, formatted in its time zone."""
    found: list[str] = []
    here = datetime.fromtimestamp(now / SECOND, UTC)
    for _ in range(count):
        try:
            here = when.next_time(here)
        except InvalidInputError:
            return found
        found.append(f"{here:%A, %d %B %Y, %H:%M}")
    return found
