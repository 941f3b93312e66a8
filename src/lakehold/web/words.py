"""Numbers and moments as people read them."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256

from lakehold.kit.clock import FOREVER, SECOND, Moment, format_moment

_STEPS = ((60, "second"), (3600, "minute"), (86_400, "hour"), (86_400 * 30, "day"), (86_400 * 365, "month"))
_TONES = 8
_WORDS_IN_INITIALS = 2


def counted(number: int, noun: str = "", many: str = "") -> str:
    """`1 table`, `12,345 tables`."""
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun if number == 1 else many or plural(noun)}"


def plural(noun: str) -> str:
    """`tables`, `histories`, `saved queries`."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def spoken(word: str) -> str:
    """`Configure sharing` of `configure_sharing`."""
    return word.replace("_", " ").capitalize()


def ago(at: Moment, now: Moment) -> str:
    """`3 minutes ago`, `in 2 days`."""
    if at >= FOREVER:
        return "no end"
    seconds = abs(now - at) // SECOND
    size, noun = 1, "second"
    for limit, word in _STEPS:
        noun = word
        if seconds < limit:
            break
        size = limit
    else:
        noun = "year"
    told = counted(max(seconds // size, 1), noun)
    if seconds < 10:  # noqa: PLR2004 - too short to count
        return "just now"
    return f"{told} ago" if at <= now else f"in {told}"


def exact(at: Moment) -> str:
    """The moment for the eye, in UTC."""
    return format_moment(at).replace("+00:00", " UTC")


def machine(at: Moment) -> str:
    """The moment for the attribute of `<time>`."""
    return datetime.fromtimestamp(at / SECOND, UTC).isoformat(timespec="seconds")


def initials(name: str) -> str:
    """Two letters that stand for a name."""
    words = [word for word in name.replace(",", " ").split() if word[0].isalnum()]
    return "".join(word[0] for word in words[:_WORDS_IN_INITIALS]).upper() or "?"


def tone_of(name: str) -> int:
    """One of eight colours, always the same for a name."""
    return sha256(name.encode()).digest()[0] % _TONES
