"""What a report asks, as SQL for the caller: of a mart that they may use, as it is at this moment."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lakehold.catalog import details
from lakehold.directory.work import Work
from lakehold.kit.clock import SECOND
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import shown
from lakehold.pipeline.lake import Lake
from lakehold.workspaces.marts import joining
from lakehold.workspaces.marts.questions import Question
from lakehold.workspaces.told import Told

WORD = "report"


def told_of(work: Work, uid: str) -> Told:
    """The settings of a report."""
    return Told(details.read(work, uid).settings, WORD)


def text(work: Work, lake: Lake, told: Told, mart: str, parameters: Mapping[str, str] | None = None) -> str:
    """One SELECT. Parameters that are given go before those of the report."""
    return _question(work, told, parameters).text(joining.source(work, lake, mart))


def columns(work: Work, lake: Lake, told: Told, mart: str) -> tuple[str, ...]:
    """What the columns of its rows are called."""
    return _question(work, told, None).columns(joining.source(work, lake, mart))


def today(work: Work, told: Told) -> str:
    """The day, where the report is read."""
    return _now(work, told).date().isoformat()


def _question(work: Work, told: Told, parameters: Mapping[str, str] | None) -> Question:
    return Question(told, _now(work, told), {**told.pairs("parameters"), **(parameters or {})})


def _now(work: Work, told: Told) -> datetime:
    zone = told.text("zone", "UTC")
    try:
        return datetime.fromtimestamp(work.at / SECOND, UTC).astimezone(ZoneInfo(zone))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidInputError(f"There is no time zone {shown(zone)}.", "Write Europe/Berlin.") from None
