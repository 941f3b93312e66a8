"""When something runs by itself: a schedule with its time zone, or others whose success is waited for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class When:
    """A schedule, or others whose success is waited for."""

    cron: str = ""
    zone: str = "UTC"
    after: tuple[str, ...] = ()
    every: bool = False
    """Whether all of them have to succeed; else any one does."""

    def checked(self) -> When:
        """Itself, if it can ever be due."""
        if bool(self.cron) == bool(self.after):
            raise InvalidInputError("A trigger has a schedule, or others that it comes after.", "Give one of the two.")
        if self.cron:
            self.next(datetime.now(self._zone()))
        return self

    def next(self, behind: datetime) -> datetime:
        """When the schedule is due the next time."""
        try:
            return next(CronSim(self.cron[:_LONGEST], behind.astimezone(self._zone())))
        except CronSimError:
            raise InvalidInputError(
                f"{quote(self.cron)} is no schedule.", "Write minute, hour, day, month and weekday: 30 6 * * 1-5."
            ) from None
        except StopIteration:
            raise InvalidInputError(f"{quote(self.cron)} is never due.", "Choose days that there are.") from None

    def due(self, at: Moment) -> Moment | None:
        """The next moment of the schedule; None if it has none."""
        if not self.cron:
            return None
        return int(self.next(datetime.fromtimestamp(at / SECOND, ZoneInfo("UTC"))).timestamp()) * SECOND

    def _zone(self) -> ZoneInfo:
        try:
            return ZoneInfo(self.zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise InvalidInputError(f"There is no time zone {quote(self.zone)}.", "Write Europe/Berlin.") from None
