"""Endpoints of a project's e-mail notifications."""

from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field

from lakehold.api.catalog.schemas import RefJson
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext
from lakehold.api.http.models import IdText, RequestModel, ResponseModel, SearchText
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import make_router
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.workspaces.marts.notifications import receivers

routes = make_router("/api/v1/projects", "Notifications")

ProjectId = Annotated[IdText, Field(examples=["sales"])]
MemberId = Annotated[IdText, Field(examples=["tara"])]


class NotificationChannelsJson(ResponseModel):
    """The channels of a project that are on."""

    failed_runs: bool = Field(description="Runs of data marts and reports that failed; on at first.")
    broken_checks: bool = Field(description="Data quality checks that did not hold; on at first.")
    succeeded_runs: bool = Field(description="Runs that succeeded; off at first.")


class OwnerTooLowJson(ResponseModel):
    """A Technical Owner whose role is Business User: they cannot edit, delete or manage their data mart."""

    mart: RefJson
    owner: RefJson


class NotificationSettingsJson(ResponseModel):
    """The notification settings of a project."""

    channels: NotificationChannelsJson
    mails: bool = Field(description="Whether this installation sends mails at all.")
    may_manage: bool = Field(description="Whether you may switch channels and change others' subscriptions.")
    owners_too_low: list[OwnerTooLowJson] = Field(
        description="All that you see if you manage the project; else only yourself."
    )


class NotificationChannelsUpdate(RequestModel):
    """Channels to switch on or off; those left out stay."""

    failed_runs: bool | None = None
    broken_checks: bool | None = None
    succeeded_runs: bool | None = None


class SubscriptionJson(ResponseModel):
    """A member's subscription to a channel."""

    on: bool
    by: Literal["default", "choice"] = Field(
        description="By their role, or by a choice that was made since they hold it."
    )


class SubscriptionsJson(ResponseModel):
    """A member's subscriptions to all channels."""

    failed_runs: SubscriptionJson
    broken_checks: SubscriptionJson
    succeeded_runs: SubscriptionJson


class NotificationReceiverJson(ResponseModel):
    """A member, and their subscriptions."""

    member: RefJson
    role: Literal["admin", "technical_user", "business_user"]
    joined: bool = Field(description="False for an admin by their role in the tenant, who holds none in the project.")
    reachable: bool = Field(description="Whether they have an address for mails.")
    channels: SubscriptionsJson


class SubscriptionsUpdate(NotificationChannelsUpdate):
    """Subscriptions to change; those left out stay, and null is the default of the member's role."""


@routes.get("/{project}/notifications")
def get_notifications(ctx: ReadContext, platform: CurrentPlatform, project: ProjectId) -> NotificationSettingsJson:
    """Get the notification settings of a project, and Technical Owners whose role is too low."""
    return _notification_settings_json(ctx, platform, project)


@routes.put("/{project}/notifications")
def switch_notifications(
    ctx: WriteContext, platform: CurrentPlatform, project: ProjectId, body: NotificationChannelsUpdate
) -> NotificationSettingsJson:
    """Switch channels of a project on or off, for those who manage its settings."""
    receivers.set_channels(ctx, project, body.model_dump(exclude_none=True))
    return _notification_settings_json(ctx, platform, project)


@routes.get("/{project}/notifications/receivers")
def list_notification_receivers(
    ctx: ReadContext,
    paged: PageParams,
    project: ProjectId,
    search: Annotated[SearchText, Query(description="A part of the name.")] = "",
) -> PageResponse[NotificationReceiverJson]:
    """List the subscriptions of members; all members for those who manage the project's settings, for others themself.

    A notification goes to those of them who may see the data mart of the run.
    """
    list_name = f"receivers {project} {search}"
    found = receivers.list_receivers(ctx, project, search)
    return paged.slice_page(list_name, found, NotificationReceiverJson.model_validate)


@routes.put("/{project}/notifications/receivers/{member}")
def choose_notifications(
    ctx: WriteContext, project: ProjectId, member: MemberId, body: SubscriptionsUpdate
) -> NotificationReceiverJson:
    """Change the subscriptions of a member; one's own, or anybody's for those who manage the project's settings.

    A choice counts until the member is promoted, downgraded, or leaves the project.
    """
    changed = receivers.set_subscription(ctx, project, member, body.model_dump(exclude_unset=True))
    return NotificationReceiverJson.model_validate(changed)


def _notification_settings_json(ctx: RequestContext, platform: Platform, project: str) -> NotificationSettingsJson:
    return NotificationSettingsJson.model_validate(
        {
            "channels": receivers.project_channels(ctx, project),
            "mails": bool(platform.settings.smtp.get_secret_value()),
            "may_manage": receivers.can_manage(ctx, project),
            "owners_too_low": receivers.underprivileged_owners(ctx, project),
        }
    )
