"""Formats numbers, times and names as text, and returns the icons of kinds."""

from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256

from lakehold.kit.clock import FOREVER, SECOND, Moment, format_moment
from lakehold.workspaces.registry import describe_kind

_TIME_UNITS = ((60, "second"), (3600, "minute"), (86_400, "hour"), (86_400 * 30, "day"), (86_400 * 365, "month"))
_COLORS = 8
_WORDS_IN_INITIALS = 2


def format_count(number: int, noun: str = "", many: str = "") -> str:
    """Format a count with its noun: `1 table`, `12,345 tables`."""
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun if number == 1 else many or pluralize(noun)}"


def pluralize(noun: str) -> str:
    """Return the plural of a noun: `tables`, `histories`, `saved queries`."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def humanize(word: str) -> str:
    """Turn an identifier into a label: `configure_sharing` becomes `Configure sharing`."""
    return word.replace("_", " ").capitalize()


def capitalize(text: str) -> str:
    """Return the text with a capital first letter; the others stay as they are."""
    return text[:1].upper() + text[1:]


def humanized_options(words: Iterable[str]) -> list[tuple[str, str]]:
    """Return identifiers with their labels, as the options of a field."""
    return [(word, humanize(word)) for word in words]


def format_relative_time(at: Moment, now: Moment) -> str:
    """Format a time relative to now: `3 minutes ago`, `in 2 days`."""
    if at >= FOREVER:
        return "no end"
    seconds = abs(now - at) // SECOND
    size, noun = 1, "second"
    for limit, word in _TIME_UNITS:
        noun = word
        if seconds < limit:
            break
        size = limit
    else:
        noun = "year"
    amount = format_count(max(seconds // size, 1), noun)
    if seconds < 10:  # noqa: PLR2004 - too short to count
        return "just now"
    return f"{amount} ago" if at <= now else f"in {amount}"


def format_utc_time(at: Moment) -> str:
    """Format a time for display, in UTC."""
    return format_moment(at).replace("+00:00", " UTC")


def iso_time(at: Moment) -> str:
    """Format a time as ISO 8601, for the attribute of `<time>`."""
    return datetime.fromtimestamp(at / SECOND, UTC).isoformat(timespec="seconds")


def initials(name: str) -> str:
    """Return up to two initials of a name."""
    words = [word for word in name.replace(",", " ").split() if word[0].isalnum()]
    return "".join(word[0] for word in words[:_WORDS_IN_INITIALS]).upper() or "?"


def color_index(name: str) -> int:
    """Return one of eight color numbers, always the same for a name."""
    return sha256(name.encode()).digest()[0] % _COLORS


_TENANT_ICONS = {
    "tenant.tenant": "building-2",
    "tenant.member": "user",
    "tenant.group": "users",
    "tenant.all_members": "globe",
}


def icon_of(kind: str) -> str:
    """Return the name of the icon of a kind; kinds of custom models get a plain circle."""
    return _TENANT_ICONS.get(kind) or describe_kind(kind).icon
