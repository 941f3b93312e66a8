"""Standardises dates.

Nothing is invented: of a text without a day or a month only the month or the year remains.
"""

import re
from datetime import date
from functools import cache

from babel import Locale

from lakehold.workspaces.products.standardisation.countries import LANGUAGES, writing_convention
from lakehold.workspaces.products.standardisation.standard_value import StandardValue
from lakehold.workspaces.products.standardisation.texts import fold

_LONGEST = 64
_CENTURY, _NEWEST_SHORT_YEAR = 1900, 30
"""A year of two digits up to this one is of this century."""
_EARLIEST, _LATEST = 1000, 9999
_MONTHS = 12
_ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ].*)?", re.DOTALL)
_COMPACT = re.compile(r"(\d{4})(\d\d)(\d\d)")
_YEAR = re.compile(r"\d{4}")
_TIME = re.compile(r"\d{1,2}:\d\d")
_ORDINAL = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er|e|o|de)?")
_FILLERS = frozenset({"of", "de", "del", "den", "le", "the", "di", "am", "el", "w", "van", "r", "g"})


def standardise_date(text: str, country: str = "") -> StandardValue | None:
    """Return a date as year-month-day, or what is known of it as year-month or year."""
    if len(text) > _LONGEST:
        return None
    if found := _ISO.fullmatch(text) or _COMPACT.fullmatch(text):
        return _day(*map(int, found.groups()))
    words = _words(text)
    match words:
        case [year] if _YEAR.fullmatch(year):
            return _year(int(year))
        case [first, second] if first.isdecimal() and second.isdecimal():
            return _month(*_order_month(first, second))
        case [first, second, third] if first.isdecimal() and second.isdecimal() and third.isdecimal():
            return _numbers(first, second, third, month_first=writing_convention(country).month_first)
    return _month_name(words)


def _words(text: str) -> list[str]:
    """Return the numbers and words of a date, without names of weekdays, particles, and the time behind it."""
    if found := _TIME.search(text):
        text = text[: found.start()]
    return [each for each in fold(text).split() if each not in _FILLERS and each not in _weekdays()]


def _numbers(first: str, second: str, third: str, *, month_first: bool) -> StandardValue | None:
    if len(first) > 2:  # noqa: PLR2004 - a year has more digits than a day
        return _day(int(first), int(second), int(third))
    day, month = (second, first) if month_first else (first, second)
    if int(month) > _MONTHS:
        day, month = month, day
    return _day(_full_year(third), int(month), int(day))


def _month_name(words: list[str]) -> StandardValue | None:
    """Return a date whose month is a word: `12 March 1980`, `March 12, 1980`, `12-MAR-80` or `March 1980`."""
    months = [n for n, each in enumerate(words) if each in _month_names()]
    if len(months) != 1:
        return None
    month = _month_names()[words[months[0]]]
    numbers = [found[1] if (found := _ORDINAL.fullmatch(each)) else each for each in words if each != words[months[0]]]
    if not all(each.isdecimal() for each in numbers):
        return None
    match numbers:
        case [year] if _YEAR.fullmatch(year):
            return _month(int(year), month)
        case [year, day] if _YEAR.fullmatch(year):
            return _day(int(year), month, int(day))
        case [day, year]:
            return _day(_full_year(year), month, int(day))
    return None


def _order_month(first: str, second: str) -> tuple[int, int]:
    return (int(first), int(second)) if _YEAR.fullmatch(first) else (int(second), int(first))


def _full_year(text: str) -> int:
    year = int(text)
    if len(text) > 2:  # noqa: PLR2004 - it has its century
        return year
    return year + _CENTURY + (100 if year <= _NEWEST_SHORT_YEAR else 0)


def _day(year: int, month: int, day: int) -> StandardValue | None:
    try:
        found = date(year, month, day)
    except (ValueError, OverflowError):
        return None
    if not _EARLIEST <= year <= _LATEST:
        return None
    return StandardValue(found.isoformat(), {"key": found.isoformat(), "year": str(year)})


def _month(year: int, month: int) -> StandardValue | None:
    if not (_EARLIEST <= year <= _LATEST and 1 <= month <= _MONTHS):
        return None
    return StandardValue(f"{year}-{month:02}", {"year": str(year)})


def _year(year: int) -> StandardValue | None:
    return StandardValue(str(year), {"year": str(year)}) if _EARLIEST <= year <= _LATEST else None


@cache
def _month_names() -> dict[str, int]:
    """Return the months by their names, folded; of two that are spelled alike, the first language's."""
    found: dict[str, int] = {}
    for language in LANGUAGES:
        months = Locale.parse(language).months
        for names in (months[form][width] for form in ("format", "stand-alone") for width in ("wide", "abbreviated")):
            for month, name in names.items():
                if (folded := fold(name)) and not folded.isdecimal():
                    found.setdefault(folded, month)
    return found | {"sept": 9}


@cache
def _weekdays() -> frozenset[str]:
    found = set[str]()
    for language in LANGUAGES:
        days = Locale.parse(language).days["format"]
        found |= {fold(name) for width in ("wide", "abbreviated") for name in days[width].values()}
    return frozenset(found - set(_month_names()))
