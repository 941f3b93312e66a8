"""Endpoints of groups."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import AliasChoices, Field

from lakehold.api.directory.members import MemberId, RolesUpdate, Sort
from lakehold.api.http.dependencies import CreateContext, ReadContext, WriteContext
from lakehold.api.http.models import (
    IdText,
    IfMatch,
    NameText,
    RecordId,
    RequestModel,
    ResponseModel,
    SearchText,
    TaggedResponse,
)
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.directory import groups, members
from lakehold.directory.request_context import RequestContext

routes = make_router("/api/v1/groups", "Groups")

GroupId = Annotated[IdText, Field(examples=["analysts"])]


class NewGroup(RequestModel):
    """A group to create."""

    name: NameText = Field(examples=["Analysts"])
    id: IdText | None = Field(default=None, examples=["analysts"], description="Without one it is made.")


class GroupUpdate(RequestModel):
    """The new name of a group."""

    name: NameText = Field(examples=["Analysts"])


class GroupSummary(ResponseModel):
    """A group by name."""

    id: RecordId = Field(examples=["analysts"])
    name: NameText = Field(examples=["Analysts"])


class GroupJson(TaggedResponse):
    """A group with its members."""

    id: RecordId = Field(examples=["analysts"])
    name: NameText = Field(examples=["Analysts"])
    built_in: bool = Field(description="Whether it is All, which is whoever is there and cannot be changed.")
    member_ids: list[str] = Field(
        validation_alias=AliasChoices("member_ids", "members"),
        examples=[["ana"]],
        description="The ids of its members, by name; none for All.",
    )
    roles: list[str] = Field(examples=[["viewer"]], description="The tenant and security roles that it holds.")


@routes.get("")
def list_groups(
    ctx: ReadContext,
    paged: PageParams,
    search: Annotated[SearchText, Query(description="A part of the name.")] = "",
    sort: Sort = "name",
) -> PageResponse[GroupSummary]:
    """List all groups but the built-in one."""
    found = groups.page(ctx, search=search, sort=sort, after=paged.after, limit=paged.limit)
    return PageResponse(items=[GroupSummary.model_validate(item) for item in found.items], next=found.after)


@routes.post("", status_code=201)
def create_group(ctx: CreateContext, body: NewGroup) -> GroupJson:
    """Create a group without members."""
    return _group_json(ctx, groups.create(ctx, body.name, uid=body.id))


@routes.get("/{group}")
def get_group(ctx: ReadContext, group: GroupId) -> GroupJson:
    """Get a group with its members."""
    return _group_json(ctx, group)


@routes.patch("/{group}", responses=problem_responses(412, 428))
def rename_group(ctx: WriteContext, group: GroupId, body: GroupUpdate, seen: IfMatch) -> GroupJson:
    """Rename a group."""
    groups.need_edit(ctx, group)
    seen.need(_group_json(ctx, group))
    groups.rename(ctx, group, body.name)
    return _group_json(ctx, group)


@routes.put("/{group}/roles", responses=problem_responses(412, 428))
def set_group_roles(ctx: WriteContext, group: GroupId, body: RolesUpdate, seen: IfMatch) -> GroupJson:
    """Set the tenant and security roles of a group."""
    current = _group_json(ctx, group)
    members.need_set_tenant_roles(ctx, group, body.roles)
    seen.need(current)
    members.set_tenant_roles(ctx, group, body.roles)
    return _group_json(ctx, group)


@routes.put("/{group}/members/{member}")
def add_group_member(ctx: WriteContext, group: GroupId, member: MemberId) -> GroupJson:
    """Add a member to a group."""
    groups.add(ctx, group, member)
    return _group_json(ctx, group)


@routes.delete("/{group}/members/{member}")
def remove_group_member(ctx: WriteContext, group: GroupId, member: MemberId) -> GroupJson:
    """Remove a member from a group."""
    groups.remove(ctx, group, member)
    return _group_json(ctx, group)


@routes.delete("/{group}", status_code=204)
def delete_group(ctx: WriteContext, group: GroupId) -> None:
    """Delete a group. Its members lose what they had by it, and nothing else."""
    groups.delete(ctx, group)


def _group_json(ctx: RequestContext, group: str) -> GroupJson:
    return GroupJson.model_validate(groups.get(ctx, group))
