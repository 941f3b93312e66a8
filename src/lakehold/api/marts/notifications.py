"""Who is told by mail of what happens in a project."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field

from lakehold.api.catalog.shown import RefJson, ref
from lakehold.api.frame.models import Answer, Body, IdText, Search
from lakehold.api.frame.paging import Page, Paged
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import House, Reading, Writing
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.workspaces.marts.notifications import receivers
from lakehold.workspaces.marts.notifications.receivers import MemberSubscriptions

routes = router("/api/v1/projects", "Notifications")

ProjectId = Annotated[IdText, Field(examples=["sales"])]
MemberId = Annotated[IdText, Field(examples=["tara"])]


class Switches(Answer):
    """Which channels a project tells of."""

    failed_runs: bool = Field(description="Runs of data marts and reports that failed; on at first.")
    broken_checks: bool = Field(description="Data quality checks that did not hold; on at first.")
    succeeded_runs: bool = Field(description="Runs that succeeded; off at first.")


class OwnerTooLow(Answer):
    """A Technical Owner whose role is Business User: they cannot edit, delete or manage their data mart."""

    mart: RefJson
    owner: RefJson


class Notifications(Answer):
    """How a project tells."""

    channels: Switches
    mails: bool = Field(description="Whether this installation sends mails at all.")
    may_manage: bool = Field(description="Whether you switch channels, and choose for others.")
    owners_too_low: list[OwnerTooLow] = Field(description="For who manages it all that you see; for others themself.")


class WantedSwitches(Body):
    """What is to be on or off; what is left out stays."""

    failed_runs: bool | None = None
    broken_checks: bool | None = None
    succeeded_runs: bool | None = None


class Subscribed(Answer):
    """Whether somebody is subscribed to a channel."""

    on: bool
    by: Literal["default", "choice"] = Field(
        description="By their role, or by a choice that was made since they hold it."
    )


class Subscriptions(Answer):
    """To what somebody is subscribed."""

    failed_runs: Subscribed
    broken_checks: Subscribed
    succeeded_runs: Subscribed


class NotificationReceiver(Answer):
    """A member, and what they are subscribed to."""

    member: RefJson
    role: Literal["admin", "technical_user", "business_user"]
    joined: bool = Field(description="False for an admin by their role in the tenant, who holds none in the project.")
    reachable: bool = Field(description="Whether they have an address for mails.")
    channels: Subscriptions


class WantedSubscriptions(Body):
    """What is to be chosen; what is left out stays, and null is what their role has by default."""

    failed_runs: bool | None = None
    broken_checks: bool | None = None
    succeeded_runs: bool | None = None


@routes.get("/{project}/notifications")
def get_notifications(ctx: Reading, platform: House, project: ProjectId) -> Notifications:
    """Which channels a project tells of, and Technical Owners whose role is too low."""
    return _notifications(ctx, platform, project)


@routes.put("/{project}/notifications")
def switch_notifications(ctx: Writing, platform: House, project: ProjectId, body: WantedSwitches) -> Notifications:
    """Switch channels of a project on or off, for who manages its settings."""
    receivers.set_channels(ctx, project, body.model_dump(exclude_none=True))
    return _notifications(ctx, platform, project)


@routes.get("/{project}/notifications/receivers")
def list_notification_receivers(
    ctx: Reading,
    paged: Paged,
    project: ProjectId,
    search: Annotated[Search, Query(description="A part of the name.")] = "",
) -> Page[NotificationReceiver]:
    """Who is subscribed to what: all members for who manages the project's settings, for others themself.

    A notice goes to those of them who may see the data mart of the run.
    """
    of = f"receivers {project} {search}"
    start = paged.start(of, int)
    behind = 0 if start is None else int(str(start[0]))
    some = list(enumerate(receivers.list_receivers(ctx, project, search), start=1))[behind : behind + paged.limit + 1]
    return paged.page(of, some, lambda each: (each[0],), lambda each: _told(each[1]))


@routes.put("/{project}/notifications/receivers/{member}")
def choose_notifications(
    ctx: Writing, project: ProjectId, member: MemberId, body: WantedSubscriptions
) -> NotificationReceiver:
    """Subscribe a member to channels, or no longer: oneself, or anybody by who manages the project's settings.

    A choice counts until the member is promoted, downgraded, or leaves the project.
    """
    return _told(receivers.set_subscription(ctx, project, member, body.model_dump(exclude_unset=True)))


def _notifications(ctx: RequestContext, platform: Platform, project: str) -> Notifications:
    switched = receivers.project_channels(ctx, project)
    return Notifications(
        channels=Switches(**{channel.value: on for channel, on in switched.items()}),
        mails=bool(platform.settings.smtp.get_secret_value()),
        may_manage=receivers.can_manage(ctx, project),
        owners_too_low=[
            OwnerTooLow(mart=ref(each.mart), owner=ref(each.owner))
            for each in receivers.underprivileged_owners(ctx, project)
        ],
    )


def _told(found: MemberSubscriptions) -> NotificationReceiver:
    channels = {
        channel.value: Subscribed(on=each.on, by="choice" if each.chosen else "default")
        for channel, each in found.channels.items()
    }
    return NotificationReceiver(
        member=ref(found.member),
        role=found.role,  # type: ignore[arg-type] # one of the three
        joined=found.joined,
        reachable=found.reachable,
        channels=Subscriptions(**channels),
    )
