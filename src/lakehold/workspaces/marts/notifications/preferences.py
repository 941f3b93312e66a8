"""Notification channels, and the preferences stored for projects and members."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import sqlalchemy as sa

from lakehold.access.model.errors import did_you_mean
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.database import ExactText, IdType, metadata
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote


class NotificationChannel(StrEnum):
    """One kind of notifications."""

    FAILED_RUNS = "failed_runs"
    BROKEN_CHECKS = "broken_checks"
    SUCCEEDED_RUNS = "succeeded_runs"

    @property
    def label(self) -> str:
        """The name for people."""
        return self.value.replace("_", " ").capitalize()


DEFAULT_CHANNELS = frozenset({NotificationChannel.FAILED_RUNS, NotificationChannel.BROKEN_CHECKS})
"""Those that a project tells of unless it is switched off."""


def parse_channel(name: object) -> NotificationChannel:
    """Return the channel of this name, or raise."""
    if not isinstance(name, str) or name not in set(NotificationChannel):
        raise InvalidInputError(
            f"There is no channel {quote(str(name))}.", did_you_mean(str(name), NotificationChannel)
        )
    return NotificationChannel(name)


notification_table = sa.Table(
    "notification",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    # The project.
    sa.Column("resource_id", IdType, primary_key=True),
    # 0 for the project's own switch.
    sa.Column("member_id", IdType, primary_key=True),
    sa.Column("channel", ExactText, primary_key=True),
    sa.Column("wanted", sa.Boolean, nullable=False),
    sa.Column("chosen_at", IdType, nullable=False),
    sa.Column("chosen_by", ExactText, nullable=False),
)

PROJECT_MEMBER = 0


@dataclass(frozen=True, slots=True)
class ChannelPreference:
    """A stored preference."""

    subscribed: bool
    at: Moment


ChannelPreferences = Mapping[NotificationChannel, ChannelPreference]


def load_preferences(ctx: RequestContext, project: str) -> dict[int, ChannelPreferences]:
    """Return the preferences of a project by the number of the member; by 0 those of the project itself."""
    c = notification_table.c
    query = sa.select(notification_table).where(
        c.tenant_id == ctx.session.tenant, c.resource_id == ctx.view.resource(project)
    )
    found: dict[int, dict[NotificationChannel, ChannelPreference]] = {}
    for row in ctx.session.transaction.connection.execute(query):
        if row.channel in set(NotificationChannel):
            found.setdefault(row.member_id, {})[NotificationChannel(row.channel)] = ChannelPreference(
                row.wanted, row.chosen_at
            )
    return dict(found)


def enabled_channels(chosen: Mapping[int, ChannelPreferences]) -> dict[NotificationChannel, bool]:
    """Return which channels a project has switched on."""
    own = chosen.get(PROJECT_MEMBER, {})
    return {each: own[each].subscribed if each in own else each in DEFAULT_CHANNELS for each in NotificationChannel}


def save_preference(
    ctx: RequestContext, project: str, member: int, channel: NotificationChannel, *, subscribed: bool | None
) -> None:
    """Replace a preference; None deletes it."""
    here = {
        "tenant_id": ctx.session.tenant,
        "resource_id": ctx.view.resource(project),
        "member_id": member,
        "channel": channel.value,
    }
    c, connection = notification_table.c, ctx.session.transaction.connection
    connection.execute(notification_table.delete().where(*(c[name] == value for name, value in here.items())))
    if subscribed is not None:
        kept = {"wanted": subscribed, "chosen_at": ctx.at, "chosen_by": ctx.caller.member}
        connection.execute(notification_table.insert().values(**here, **kept))
