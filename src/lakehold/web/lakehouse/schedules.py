"""A schedule in words, where it is one that people have words for."""

from __future__ import annotations

import re

_DAYS = {"*": "every day", "1-5": "Monday to Friday", "0,6": "on weekends", "6,0": "on weekends", "6-7": "on weekends"}
_NAMES = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NUMBER = re.compile(r"[0-9]{1,2}")
_PARTS = 5


def said(cron: str) -> str:
    """`At 06:30, Monday to Friday`; the schedule itself where there are no shorter words."""
    parts = cron.split()
    if len(parts) != _PARTS:
        return cron
    minute, hour, day, month, weekday = parts
    if month != "*":
        return cron
    if (hour, day, weekday) == ("*", "*", "*"):
        return _each_hour(minute, cron)
    if not (_NUMBER.fullmatch(minute) and _NUMBER.fullmatch(hour)):
        return cron
    time = f"At {int(hour):02}:{int(minute):02}"
    if day == "*":
        days = _DAYS.get(weekday) or (f"on {_NAMES[int(weekday)]}s" if weekday in tuple("01234567") else "")
        return f"{time}, {days}" if days else cron
    return f"{time}, on day {day} of the month" if weekday == "*" and _NUMBER.fullmatch(day) else cron


def _each_hour(minute: str, cron: str) -> str:
    if minute == "*":
        return "Every minute"
    if minute.startswith("*/") and _NUMBER.fullmatch(minute[2:]):
        return f"Every {int(minute[2:])} minutes"
    return f"Every hour at :{int(minute):02}" if _NUMBER.fullmatch(minute) else cron
