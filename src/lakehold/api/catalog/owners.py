"""Handing over what is held by a person."""

from __future__ import annotations

from pydantic import Field

from lakehold.api.catalog import shown
from lakehold.api.catalog.shown import ResourceId, ResourceJson
from lakehold.api.frame.models import Body, IdText, Word
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Writing
from lakehold.catalog import ownership

routes = router("/api/v1/resources/{resource}/transfer", "Resources")


class Transfer(Body):
    """Which role goes to whom."""

    role: Word = Field(examples=["owner"])
    to: IdText = Field(examples=["tim"])
    from_member: IdText | None = Field(
        default=None, examples=["tara"], description="May be left out where one person holds it."
    )


@routes.post("")
def transfer_ownership(ctx: Writing, resource: ResourceId, body: Transfer) -> ResourceJson:
    """Hand a role over to another member, in one step."""
    ownership.transfer_role(ctx, resource, body.role, body.to, from_=body.from_member)
    return shown.shown(ctx, resource)
