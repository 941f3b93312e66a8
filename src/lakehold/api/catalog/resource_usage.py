"""Endpoints of the last use of resources, by day, and the collector that records it. The collector is flushed in the
background.
"""

from typing import Annotated
from weakref import WeakKeyDictionary

from fastapi import Query
from pydantic import Field

from lakehold.api.catalog.schemas import RefJson, ResourceId
from lakehold.api.http.dependencies import ReadContext
from lakehold.api.http.models import IdText, ItemsResponse, RecordTime, ResponseModel, Word
from lakehold.api.http.routing import make_router
from lakehold.catalog import usage
from lakehold.catalog.usage import UsageRecorder
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext

routes = make_router("/api/v1", "Usage")


class LastUseJson(ResponseModel):
    """The day on which a member last performed an action on a resource."""

    member: RefJson
    resource: RefJson
    action: Word
    day: RecordTime = Field(validation_alias="at", description="The beginning of the day, UTC.")


@routes.get("/usage")
def list_usage_of_member(
    ctx: ReadContext,
    member: Annotated[
        IdText | None, Query(description="The member; default: the caller. Others need `ask_about_others`.")
    ] = None,
) -> ItemsResponse[LastUseJson]:
    """List the resources that a member last used, as far as the caller may see them."""
    return ItemsResponse[LastUseJson].from_records(
        usage.list_for_member(ctx, ctx.caller.member if member is None else member)
    )


@routes.get("/resources/{resource}/usage")
def list_usage_of_resource(ctx: ReadContext, resource: ResourceId) -> ItemsResponse[LastUseJson]:
    """List who last used a resource.

    All of it for those who may grant roles there or may ask about others, else the caller's own.
    """
    return ItemsResponse[LastUseJson].from_records(usage.list_for_resource(ctx, resource))


_collectors: WeakKeyDictionary[Platform, UsageRecorder] = WeakKeyDictionary()


def record(platform: Platform, ctx: RequestContext, action: str, uid: str) -> None:
    """Record that the caller performs this action now."""
    _collector(platform).record(ctx, action, uid)


def flush(platform: Platform) -> int:
    """Write the recorded uses to the database, and return their number."""
    return _collector(platform).flush(platform.database)


def _collector(platform: Platform) -> UsageRecorder:
    return _collectors.setdefault(platform, UsageRecorder())
