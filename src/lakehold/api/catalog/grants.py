"""Endpoints of grants."""

from typing import Annotated, Literal

from pydantic import Field

from lakehold.access import Add, Grant, Remove
from lakehold.api.access.what_if import EffectGroupsJson
from lakehold.api.catalog.schemas import RefJson, ResourceId, SubjectId
from lakehold.api.http.dependencies import CreateContext, ReadContext, WriteContext
from lakehold.api.http.models import ItemsResponse, RecordEnd, RecordTime, RequestModel, ResponseModel, Time, Word
from lakehold.api.http.routing import make_router
from lakehold.catalog import change_preview, grants
from lakehold.directory.request_context import RequestContext

routes = make_router("/api/v1", "Grants")

RoleName = Annotated[Word, Field(examples=["viewer"])]


class GrantJson(ResponseModel):
    """A role that a member or group holds now or later."""

    subject: RefJson
    role: RoleName
    title: str = Field(examples=["Viewer"])
    resource: RefJson
    since: RecordTime
    until: RecordEnd = Field(description="Null if it has no end.")


class NewGrant(RequestModel):
    """A role to grant to a member or group."""

    subject: SubjectId
    role: RoleName
    since: Time | None = Field(default=None, description="Start time; default: now.")
    until: Time | None = Field(default=None, description="When it ends.")


class GrantUpdate(RequestModel):
    """Another role in place of a grant's, or another end."""

    subject: SubjectId
    role: RoleName = Field(description="The role that is held.")
    new_role: RoleName = Field(examples=["editor"])
    until: Time | None = Field(default=None, description="When it ends. Without it, it begins and ends as before.")


class GrantChangeBody(RequestModel):
    """A grant to add or remove in a preview."""

    change: Literal["add", "remove"]
    subject: SubjectId
    role: RoleName


class GrantPreviewBody(RequestModel):
    """Changes to preview together, in order."""

    changes: Annotated[list[GrantChangeBody], Field(min_length=1, max_length=100)]


@routes.get("/resources/{resource}/grants")
def list_grants(ctx: ReadContext, resource: ResourceId) -> ItemsResponse[GrantJson]:
    """List the grants on the resource itself.

    Those who may grant roles there, or may ask about others, get all of them; everybody else their own, and its owners.
    """
    return ItemsResponse[GrantJson].from_records(grants.list_direct(ctx, resource))


@routes.post("/resources/{resource}/grants", status_code=201)
def create_grant(ctx: CreateContext, resource: ResourceId, body: NewGrant) -> ItemsResponse[GrantJson]:
    """Grant a role, permanently or for a time."""
    grants.give(ctx, Grant(body.subject, body.role, resource), since=body.since, until=body.until)
    return _grants_of_subject(ctx, resource, body.subject)


@routes.patch("/resources/{resource}/grants")
def change_grant(ctx: WriteContext, resource: ResourceId, body: GrantUpdate) -> ItemsResponse[GrantJson]:
    """Change the role of a grant, or when it ends."""
    grants.change_role(ctx, Grant(body.subject, body.role, resource), body.new_role, until=body.until)
    return _grants_of_subject(ctx, resource, body.subject)


@routes.delete("/resources/{resource}/grants", status_code=204)
def revoke_grant(ctx: WriteContext, resource: ResourceId, subject: SubjectId, role: RoleName) -> None:
    """Revoke a role."""
    grants.revoke(ctx, Grant(subject, role, resource))


@routes.post("/resources/{resource}/grants/preview")
def preview_grants(ctx: ReadContext, resource: ResourceId, body: GrantPreviewBody) -> EffectGroupsJson:
    """Preview which rights members would gain and lose by these grants.

    For those who may make them, or may ask about others.
    """
    kinds: dict[str, type[Add | Remove]] = {"add": Add, "remove": Remove}
    changes = [kinds[tried.change](Grant(tried.subject, tried.role, resource)) for tried in body.changes]
    return EffectGroupsJson.model_validate(change_preview.preview(ctx, changes))


@routes.get("/resources/{resource}/who")
def list_who_may(ctx: ReadContext, resource: ResourceId, action: Word) -> ItemsResponse[RefJson]:
    """List all members who may do this, by any path. For those who may grant roles there, or may ask about others."""
    return ItemsResponse[RefJson].from_records(grants.list_effective(ctx, action, resource))


@routes.get("/grants")
def list_grants_of(ctx: ReadContext, subject: SubjectId) -> ItemsResponse[GrantJson]:
    """List the grants of a member or group, on resources that the caller may see.

    One's own and one's groups', or anybody's for those who may ask about others.
    """
    return ItemsResponse[GrantJson].from_records(grants.list_held_by(ctx, subject))


def _grants_of_subject(ctx: RequestContext, resource: str, subject: str) -> ItemsResponse[GrantJson]:
    return ItemsResponse[GrantJson].from_records(
        [one for one in grants.list_direct(ctx, resource) if one.subject.uid == subject]
    )
