"""Notification channels, the preferences stored for projects and members, and since when a member is on their side.

A preference counts only if it was saved since its member came to their side of the project. Technical is who holds
Project Admin or Technical User in it, directly or by a group; business is every other member. Above is who is its admin
by a role in the tenant and has not joined. Since when is computed from grants and groups, which are closed and never
deleted: nothing has to be done when a role changes, a grant expires, or somebody leaves a group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import sqlalchemy as sa

from lakehold.access.facts import tables
from lakehold.access.facts.tables import GrantPeriod
from lakehold.access.facts.view import FactView, role_bit
from lakehold.access.model.errors import did_you_mean
from lakehold.access.model.policy import MEMBER, MEMBER_OF, TENANT
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.database import ExactText, IdType, metadata
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.workspaces.marts.settings import PROJECT_KIND


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


def parse_channel(name: str) -> NotificationChannel:
    """Return the channel of this name, or raise."""
    try:
        return NotificationChannel(name)
    except ValueError:
        hint = did_you_mean(name, NotificationChannel)
        raise InvalidInputError(f"There is no channel {quote(name)}.", hint) from None


notification_table = sa.Table(
    "notification",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    # The project.
    sa.Column("resource_id", IdType, primary_key=True),
    # 0 for the project's own switch.
    sa.Column("member_id", IdType, primary_key=True),
    sa.Column("channel", ExactText, primary_key=True),
    sa.Column("subscribed", sa.Boolean, nullable=False),
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
    here = notification_table.c.resource_id == ctx.view.resource(project)
    found: dict[int, dict[NotificationChannel, ChannelPreference]] = defaultdict(dict)
    for row in ctx.rows(notification_table).select(here):
        if row.channel in set(NotificationChannel):
            preference = ChannelPreference(row.subscribed, row.chosen_at)
            found[row.member_id][NotificationChannel(row.channel)] = preference
    return dict(found)


def projects_with_preferences(ctx: RequestContext) -> list[str]:
    """Return all projects of the tenant with stored preferences, for those who may export it."""
    column = notification_table.c.resource_id
    numbers = set(ctx.rows(notification_table).select(columns=(column,)).scalars())
    return ctx.session.read_view(lambda view: [uid for number in sorted(numbers) if (uid := view.uid(number))])


def enabled_channels(chosen: Mapping[int, ChannelPreferences]) -> dict[NotificationChannel, bool]:
    """Return which channels a project has switched on."""
    own = chosen.get(PROJECT_MEMBER, {})
    return {each: own[each].subscribed if each in own else each in DEFAULT_CHANNELS for each in NotificationChannel}


def save_preference(
    ctx: RequestContext, project: str, member: int, channel: NotificationChannel, *, subscribed: bool | None
) -> None:
    """Replace a preference; None deletes it."""
    here = {"resource_id": ctx.view.resource(project), "member_id": member, "channel": channel.value}
    c, rows = notification_table.c, ctx.rows(notification_table)
    rows.delete(*(c[name] == value for name, value in here.items()))
    if subscribed is not None:
        rows.insert(**here, subscribed=subscribed, chosen_at=ctx.at, chosen_by=ctx.caller.member)


_TECHNICAL_ACTION = "create_data_mart"
"""The action that makes somebody technical."""
MANAGE_SETTINGS = "manage_settings"
"""The action that makes somebody an admin of the project."""


class MemberSide(StrEnum):
    """The side of a member: technical, business, or above the project."""

    TECHNICAL = "technical"
    BUSINESS = "business"
    ABOVE = "above"


class ProjectRoles(NamedTuple):
    """The roles in a project as the model declares them."""

    titles: Mapping[str, str]
    """By name, the highest first."""
    technical: Collection[str]
    """Those that make somebody technical."""

    @classmethod
    def load(cls, view: FactView) -> ProjectRoles:
        """Return the roles of the tenant's model."""
        schema = view.policy.kind(PROJECT_KIND).schema
        technical = view.policy.roles_for(PROJECT_KIND, _TECHNICAL_ACTION, PROJECT_KIND)
        return cls({name: role.title for name, role in schema.roles.items()}, technical)

    @property
    def highest(self) -> str:
        """The role that those above the project have in it."""
        return next(iter(self.titles))

    def side_of(self, role: str | None) -> MemberSide:
        """Return the side of a member who holds this role in the project, or none."""
        if role is None:
            return MemberSide.ABOVE
        return MemberSide.TECHNICAL if role in self.technical else MemberSide.BUSINESS


class TimeRange(NamedTuple):
    """The time from one moment until another."""

    since: Moment
    until: Moment


_ALWAYS = TimeRange(0, FOREVER)


def project_roles(ctx: RequestContext, project: str) -> dict[int, str]:
    """Return the highest role of each member in the project itself, by the number of the member."""
    return ctx.session.read_view(lambda view: _roles_in(view, project))


def _roles_in(view: FactView, project: str) -> dict[int, str]:
    given = view.grants.get(view.resource(project)) or {}
    held: dict[int, int] = {}
    for subject, mask in given.items():
        who = [subject] if view.kind(subject) == MEMBER else view.edges_in[MEMBER_OF].get(subject) or ()
        for member in who:
            held[member] = held.get(member, 0) | mask
    # The group All means those who hold a role by themselves.
    to_all = given.get(view.everyone, 0)
    *higher, lowest = ProjectRoles.load(view).titles
    return {
        member: next((role for role in higher if (mask | to_all) & role_bit(role)), lowest)
        for member, mask in held.items()
    }


@dataclass(frozen=True, slots=True)
class RoleHistory:
    """The periods in which some members held roles in a project and in the tenant."""

    on_project: Mapping[int, list[GrantPeriod]]
    """By who held it."""
    on_tenant: Mapping[int, list[GrantPeriod]]
    stays: Mapping[int, Mapping[int, list[TimeRange]]]
    """By member and group."""
    admin_roles: Collection[str]
    """The roles in the tenant with which one manages the project."""
    roles: ProjectRoles
    everyone: int
    at: Moment

    @classmethod
    def load(cls, ctx: RequestContext, project: str, members: Collection[int]) -> RoleHistory:
        """Load the history of these members."""
        session, view = ctx.session, ctx.view
        tenant = session.tenant
        stays: dict[int, dict[int, list[TimeRange]]] = {member: {} for member in members}
        for stay in tables.group_memberships(session.transaction, tenant, members):
            stays[stay.member].setdefault(stay.group, []).append(TimeRange(stay.since, stay.until))
        on_project, on_tenant = (
            _by_subject(tables.grants_on(session.transaction, tenant, here, 0))
            for here in (view.resource(project), tenant)
        )
        admin_roles = view.policy.roles_for(view.kind(view.resource(project)), MANAGE_SETTINGS, TENANT)
        return cls(on_project, on_tenant, stays, admin_roles, ProjectRoles.load(view), view.everyone, ctx.at)

    def side_since(self, member: int, side: MemberSide) -> Moment:
        """Return since when the member is on the side on which they are now."""
        joined = self._ranges_of_roles(self.on_project, self.roles.titles, member, [])
        technical = self._ranges_of_roles(self.on_project, self.roles.technical, member, joined)
        match side:
            case MemberSide.TECHNICAL:
                return self._start_of_current(technical, [])
            case MemberSide.BUSINESS:
                return self._start_of_current(joined, technical)
            case MemberSide.ABOVE:
                return self._start_of_current(
                    self._ranges_of_roles(self.on_tenant, self.admin_roles, member, [_ALWAYS]), joined
                )

    def _ranges_of_roles(
        self, given: Mapping[int, list[GrantPeriod]], role_names: Collection[str], member: int, to_all: list[TimeRange]
    ) -> list[TimeRange]:
        """Return when one of these roles was held: directly, by a group, or by All while that includes the member."""
        mine = {member: [_ALWAYS], **self.stays[member], self.everyone: to_all}
        return _merge(
            both
            for subject, stretches in mine.items()
            for span in given.get(subject, ())
            if span.role in role_names
            for both in _intersect(stretches, TimeRange(span.since, span.until))
        )

    def _start_of_current(self, here: list[TimeRange], higher: list[TimeRange]) -> Moment:
        """Return when the current range began, or a higher one ended; now if there is none."""
        began = next((each.since for each in here if each.since <= self.at < each.until), self.at)
        return max([began, *(each.until for each in higher if each.until <= self.at)])


def _by_subject(given: Iterable[GrantPeriod]) -> dict[int, list[GrantPeriod]]:
    found: dict[int, list[GrantPeriod]] = defaultdict(list)
    for span in given:
        found[span.subject].append(span)
    return found


def _intersect(some: Iterable[TimeRange], other: TimeRange) -> list[TimeRange]:
    both = (TimeRange(max(each.since, other.since), min(each.until, other.until)) for each in some)
    return [each for each in both if each.since < each.until]


def _merge(some: Iterable[TimeRange]) -> list[TimeRange]:
    """Merge ranges that touch: who gets a higher role at the moment the lower one ends never left."""
    found: list[TimeRange] = []
    for each in sorted(some):
        if found and each.since <= found[-1].until:
            found[-1] = TimeRange(found[-1].since, max(found[-1].until, each.until))
        else:
            found.append(each)
    return found
