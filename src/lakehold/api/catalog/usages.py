"""When who last did what with what, by day."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field

from lakehold.api.catalog import shown
from lakehold.api.catalog.shown import RefJson, ResourceId
from lakehold.api.frame.models import Answer, IdText, Time, Word, time_of
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Reading
from lakehold.catalog import usage
from lakehold.catalog.usage import LastUse

routes = router("/api/v1/usage", "Usage")
of_resource = router("/api/v1/resources/{resource}/usage", "Usage")


class LastUseJson(Answer):
    """On which day somebody last did something with something."""

    member: RefJson
    resource: RefJson
    action: Word
    day: Time = Field(description="The beginning of the day, UTC.")


class LastUses(Answer):
    """The newest first."""

    items: list[LastUseJson]


@routes.get("")
def list_usage_of_member(
    ctx: Reading,
    member: Annotated[
        IdText | None, Query(description="Whose; one's own without. Others need `ask_about_others`.")
    ] = None,
) -> LastUses:
    """What a member last used, of what the caller may see."""
    return _told(usage.list_for_member(ctx, ctx.caller.member if member is None else member))


@of_resource.get("")
def list_usage_of_resource(ctx: Reading, resource: ResourceId) -> LastUses:
    """Who last used a resource.

    All of it for who gives roles there or may ask about others, else the caller's own.
    """
    return _told(usage.list_for_resource(ctx, resource))


def _told(found: list[LastUse]) -> LastUses:
    return LastUses(
        items=[
            LastUseJson(
                member=shown.ref(one.member), resource=shown.ref(one.resource), action=one.action, day=time_of(one.at)
            )
            for one in found
        ]
    )
