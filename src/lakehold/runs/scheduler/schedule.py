"""The schedule of a trigger (cron with time zone, or the success of other runs), and the table of triggers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import sqlalchemy as sa
from cronsim import CronSim, CronSimError

from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.database import ExactText, IdType, metadata
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote

_MAX_CRON_LENGTH = 200


@dataclass(frozen=True, slots=True)
class TriggerSchedule:
    """A cron schedule with its time zone, or the resources whose success is waited for."""

    cron: str = ""
    zone: str = "UTC"
    after: tuple[str, ...] = ()
    every: bool = False
    """Whether all of them have to succeed; else any one does."""

    def validate(self) -> TriggerSchedule:
        """Return the schedule itself, or raise if it can never be due."""
        if bool(self.cron) == bool(self.after):
            message = "A trigger needs either a schedule or pipelines to run after."
            raise InvalidInputError(message, "Set one of them.", field="cron")
        if self.cron:
            self.next_time(datetime.now(self._zone_info()))
        return self

    def next_time(self, behind: datetime) -> datetime:
        """Return the next time of the schedule."""
        try:
            return next(CronSim(self.cron[:_MAX_CRON_LENGTH], behind.astimezone(self._zone_info())))
        except CronSimError:
            hint = "Use minute, hour, day, month and weekday: 30 6 * * 1-5."
            raise InvalidInputError(f"{quote(self.cron)} is not a cron schedule.", hint, field="cron") from None
        except StopIteration:
            hint = "Choose days that exist."
            raise InvalidInputError(f"{quote(self.cron)} is never due.", hint, field="cron") from None

    def next_moment(self, at: Moment) -> Moment | None:
        """Return the next moment of the schedule, or None if it has none."""
        if not self.cron:
            return None
        return int(self.next_time(datetime.fromtimestamp(at / SECOND, ZoneInfo("UTC"))).timestamp()) * SECOND

    def _zone_info(self) -> ZoneInfo:
        try:
            return ZoneInfo(self.zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            message = f"There is no time zone {quote(self.zone)}."
            raise InvalidInputError(message, "Write Europe/Berlin.", field="zone") from None


trigger_table = sa.Table(
    "run_trigger",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("id", ExactText, primary_key=True),
    sa.Column("tenant", ExactText, nullable=False),
    # What is run.
    sa.Column("resource_id", IdType, nullable=False),
    sa.Column("settings", sa.Text, nullable=False),
    # The caller who saved it last, as JSON: it runs as them.
    sa.Column("caller", sa.Text, nullable=False),
    sa.Column("saved_by", ExactText, nullable=False),
    sa.Column("saved_at", IdType, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    # Of those whose success is waited for: the run of each that has been heard of.
    sa.Column("heard", sa.Text, nullable=False),
    sa.Column("next_at", IdType),
    sa.Column("last_at", IdType),
)
sa.Index("run_trigger_due", trigger_table.c.active, trigger_table.c.next_at)
sa.Index("run_trigger_by_resource", trigger_table.c.tenant_id, trigger_table.c.resource_id)

TriggerRow = sa.Row[tuple[object, ...]]


def load_schedule(row: TriggerRow) -> TriggerSchedule:
    """Return the schedule of a trigger. What it waits for is stored by number, because names may change."""
    settings = json.loads(row.settings)
    return TriggerSchedule(settings["cron"], settings["zone"], tuple(settings["after"]), settings["every"])


def load_parameters(row: TriggerRow) -> dict[str, str]:
    """Return the parameters that the runs of a trigger are started with."""
    found: dict[str, str] = json.loads(row.settings).get("parameters", {})
    return found
