"""What was switched for a project and chosen for a member by hand, when, and by whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.database import ExactText, IdType, metadata
from lakehold.workspaces.marts.notifications.channels import ON_AT_FIRST, Channel

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

PROJECT = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """One of them."""

    wanted: bool
    at: Moment


Chosen = Mapping[Channel, Choice]


def read(ctx: RequestContext, project: str) -> dict[int, Chosen]:
    """All of a project, by the number of the member; by 0 those of the project itself."""
    c = notification_table.c
    query = sa.select(notification_table).where(
        c.tenant_id == ctx.session.tenant, c.resource_id == ctx.view.resource(project)
    )
    found: dict[int, dict[Channel, Choice]] = {}
    for row in ctx.session.transaction.connection.execute(query):
        if row.channel in set(Channel):
            found.setdefault(row.member_id, {})[Channel(row.channel)] = Choice(row.wanted, row.chosen_at)
    return dict(found)


def switches(chosen: Mapping[int, Chosen]) -> dict[Channel, bool]:
    """Which channels a project tells of."""
    own = chosen.get(PROJECT, {})
    return {each: own[each].wanted if each in own else each in ON_AT_FIRST for each in Channel}


def put(ctx: RequestContext, project: str, member: int, channel: Channel, *, wanted: bool | None) -> None:
    """Keep a choice in place of the one that there was; None keeps none."""
    here = {
        "tenant_id": ctx.session.tenant,
        "resource_id": ctx.view.resource(project),
        "member_id": member,
        "channel": channel.value,
    }
    c, connection = notification_table.c, ctx.session.transaction.connection
    connection.execute(notification_table.delete().where(*(c[name] == value for name, value in here.items())))
    if wanted is not None:
        kept = {"wanted": wanted, "chosen_at": ctx.at, "chosen_by": ctx.caller.member}
        connection.execute(notification_table.insert().values(**here, **kept))
