"""Form fields for a member or group and for a period. All of them work without scripts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from starlette.datastructures import FormData

from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory import groups, members
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, FOREVER, Moment, format_moment, to_moment
from lakehold.kit.errors import InvalidInputError

MAX_OPTIONS = 50
PERIOD_OPTIONS = (("never", "No end"), ("7", "7 days"), ("30", "30 days"), ("date", "A date"))
_ISO_DATE_LENGTH = 10


@dataclass(frozen=True, slots=True)
class SubjectOptions:
    """The members and groups to choose from, narrowed by a search."""

    search: str
    options: list[tuple[str, str]]
    more: bool
    """Whether there are more than are shown."""


def subject_options(
    ctx: RequestContext, search: str, *, persons_only: bool = False, chosen: str = ""
) -> SubjectOptions:
    """Return the options, groups first, then members; the chosen one is always among them."""
    found: list[tuple[str, str]] = []
    more = False
    if not persons_only:
        some = groups.page(ctx, search=search, limit=MAX_OPTIONS)
        found += [(each.uid, f"{each.name} (group)") for each in some.items]
        everybody = VisibleRefs(ctx).ref(groups.all_members_group(ctx))
        if everybody and search.casefold() in everybody.name.casefold():
            found.append((everybody.uid, f"{everybody.name} (everybody here)"))
        more = some.after is not None
    people = members.page(ctx, search=search, limit=MAX_OPTIONS)
    found += [(each.uid, each.name) for each in people.items]
    kept = VisibleRefs(ctx).ref(chosen) if chosen not in dict(found) else None
    if kept:
        found.insert(0, (kept.uid, kept.name))
    return SubjectOptions(search, found, more or people.after is not None)


def find_subject(ctx: RequestContext, uid: str) -> ResourceRef:
    """Return the member or group that was chosen."""
    found = VisibleRefs(ctx).ref(uid)
    if found is None:
        raise InvalidInputError("Choose a person or a group.", "Search for them by name.")
    return found


@dataclass(frozen=True, slots=True)
class FormPeriod:
    """The period of a grant. None as start means now, None as end means no end."""

    since: Moment | None = None
    until: Moment | None = None

    @property
    def label(self) -> str:
        """The period as text: `from 2031-05-04 until 2031-06-03`; empty for from now on without an end."""
        parts = [f"from {format_moment(self.since)[:_ISO_DATE_LENGTH]}"] if self.since is not None else []
        if self.until is not None:
            parts.append(f"until {format_last_day(self.until)}")
        return " ".join(parts)


def parse_period(sent: FormData, now: Moment) -> FormPeriod:
    """Parse the period of a form; raises `FieldError` for the field that is not valid."""
    since = _parse_day(sent, "since_date", "Say from which day.") if sent.get("since_date") else None
    begin = now if since is None or since <= now else since
    until: Moment | None
    match sent.get("until"):
        case "7" | "30" as days:
            until = begin + int(days) * DAY
        case "date":
            until = _parse_day(sent, "until_date", "Say until which day.", after=1)
        case _:
            until = None
    if until is not None and until <= begin:
        raise FieldError("until_date", "The end must come after the beginning. Choose a later day.")
    return FormPeriod(None if begin == now else since, until)


class FieldError(InvalidInputError):
    """A form field has an invalid value."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def format_last_day(until: Moment) -> str:
    """Return the last day of a period: midnight belongs to the day before."""
    return "" if until >= FOREVER else format_moment(until - 1)[:_ISO_DATE_LENGTH]


def _parse_day(sent: FormData, field: str, missing: str, after: int = 0) -> Moment:
    text = str(sent.get(field) or "")
    try:
        day = date.fromisoformat(text) + timedelta(days=after)
    except (ValueError, OverflowError):
        raise FieldError(field, missing) from None
    return to_moment(datetime(day.year, day.month, day.day, tzinfo=UTC))
