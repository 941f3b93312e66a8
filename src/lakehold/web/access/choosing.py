"""A person or a group, and a time, as forms ask for them. Everything can be chosen without scripts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from starlette.datastructures import FormData

from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory import groups, members
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, FOREVER, Moment, format_moment, to_moment
from lakehold.kit.errors import InvalidInputError

MOST = 50
ENDS = (("never", "No end"), ("7", "7 days"), ("30", "30 days"), ("date", "A date"))
_DAY = 10


@dataclass(frozen=True, slots=True)
class Subjects:
    """Whom one can choose, of those whose name was searched for."""

    search: str
    options: list[tuple[str, str]]
    more: bool
    """Whether there are more than are shown."""


def subjects(ctx: RequestContext, search: str, *, persons_only: bool = False, chosen: str = "") -> Subjects:
    """Groups first, then people; the chosen one is always among them."""
    found: list[tuple[str, str]] = []
    more = False
    if not persons_only:
        some = groups.page(ctx, search=search, limit=MOST)
        found += [(each.uid, f"{each.name} (group)") for each in some.items]
        everybody = VisibleRefs(ctx).ref(groups.all_members_group(ctx))
        if everybody and search.casefold() in everybody.name.casefold():
            found.append((everybody.uid, f"{everybody.name} (everybody here)"))
        more = some.after is not None
    people = members.page(ctx, search=search, limit=MOST)
    found += [(each.uid, each.name) for each in people.items]
    kept = VisibleRefs(ctx).ref(chosen) if chosen not in dict(found) else None
    if kept:
        found.insert(0, (kept.uid, kept.name))
    return Subjects(search, found, more or people.after is not None)


def subject(ctx: RequestContext, uid: str) -> ResourceRef:
    """The one that was chosen."""
    found = VisibleRefs(ctx).ref(uid)
    if found is None:
        raise InvalidInputError("Choose a person or a group.", "Search for them by name.")
    return found


@dataclass(frozen=True, slots=True)
class Span:
    """From when until when; None is now, and no end."""

    since: Moment | None = None
    until: Moment | None = None

    @property
    def words(self) -> str:
        """`from 2031-05-04 until 2031-06-03`; empty for good and from now on."""
        parts = [f"from {format_moment(self.since)[:_DAY]}"] if self.since is not None else []
        if self.until is not None:
            parts.append(f"until {last_day(self.until)}")
        return " ".join(parts)


def span(sent: FormData, now: Moment) -> Span:
    """The time that was chosen; refused with the name of the field that cannot be right."""
    since = _day(sent, "since_date", "Say from which day.") if sent.get("since_date") else None
    begin = now if since is None or since <= now else since
    until: Moment | None
    match sent.get("until"):
        case "7" | "30" as days:
            until = begin + int(days) * DAY
        case "date":
            until = _day(sent, "until_date", "Say until which day.", after=1)
        case _:
            until = None
    if until is not None and until <= begin:
        raise FieldError("until_date", "The end must come after the beginning. Choose a later day.")
    return Span(None if begin == now else since, until)


class FieldError(InvalidInputError):
    """What was filled in cannot be right, and where."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def last_day(until: Moment) -> str:
    """The last day of something that ends: midnight belongs to the day before."""
    return "" if until >= FOREVER else format_moment(until - 1)[:_DAY]


def _day(sent: FormData, field: str, missing: str, after: int = 0) -> Moment:
    text = str(sent.get(field) or "")
    try:
        day = date.fromisoformat(text) + timedelta(days=after)
    except (ValueError, OverflowError):
        raise FieldError(field, missing) from None
    return to_moment(datetime(day.year, day.month, day.day, tzinfo=UTC))
