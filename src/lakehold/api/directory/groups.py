"""Groups."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field

from lakehold.api.directory.members import MemberId, Sort, WantedRoles
from lakehold.api.frame.etags import IfMatch, Tagged
from lakehold.api.frame.models import Answer, Body, IdText, NameText, Search
from lakehold.api.frame.paging import Page, Paged
from lakehold.api.frame.routes import problems, router
from lakehold.api.frame.works import Creating, Reading, Writing
from lakehold.directory import groups, members
from lakehold.directory.request_context import RequestContext

routes = router("/api/v1/groups", "Groups")

GroupId = Annotated[IdText, Field(examples=["analysts"])]


class NewGroup(Body):
    """A group that is to be."""

    name: NameText = Field(examples=["Analysts"])
    id: IdText | None = Field(default=None, examples=["analysts"], description="Without one it is made.")


class RenamedGroup(Body):
    """What it is to be called."""

    name: NameText = Field(examples=["Analysts"])


class GroupSummary(Answer):
    """A group by name."""

    id: GroupId
    name: NameText = Field(examples=["Analysts"])


class GroupJson(Tagged):
    """A group with those who are in it."""

    id: GroupId
    name: NameText = Field(examples=["Analysts"])
    built_in: bool = Field(description="Whether it is All, which is whoever is there and cannot be changed.")
    member_ids: list[str] = Field(examples=[["ana"]], description="The ids of its members, by name; none for All.")
    roles: list[str] = Field(examples=[["viewer"]], description="The tenant and security roles that it holds.")


@routes.get("")
def list_groups(
    ctx: Reading,
    paged: Paged,
    search: Annotated[Search, Query(description="A part of the name.")] = "",
    sort: Sort = "name",
) -> Page[GroupSummary]:
    """All groups but the built-in one."""
    found = groups.page(ctx, search=search, sort=sort, after=paged.after, limit=paged.limit)
    return Page(items=[GroupSummary(id=item.uid, name=item.name) for item in found.items], next=found.after)


@routes.post("", status_code=201)
def create_group(ctx: Creating, body: NewGroup) -> GroupJson:
    """Make a group, with nobody in it."""
    return _shown(ctx, groups.create(ctx, body.name, uid=body.id))


@routes.get("/{group}")
def get_group(ctx: Reading, group: GroupId) -> GroupJson:
    """A group with its members."""
    return _shown(ctx, group)


@routes.patch("/{group}", responses=problems(412, 428))
def rename_group(ctx: Writing, group: GroupId, body: RenamedGroup, seen: IfMatch) -> GroupJson:
    """Rename a group."""
    groups.need_edit(ctx, group)
    seen.need(_shown(ctx, group))
    groups.rename(ctx, group, body.name)
    return _shown(ctx, group)


@routes.put("/{group}/roles", responses=problems(412, 428))
def set_group_roles(ctx: Writing, group: GroupId, body: WantedRoles, seen: IfMatch) -> GroupJson:
    """Let these be the tenant and security roles of a group."""
    current = _shown(ctx, group)
    members.need_set_tenant_roles(ctx, group, body.roles)
    seen.need(current)
    members.set_tenant_roles(ctx, group, body.roles)
    return _shown(ctx, group)


@routes.put("/{group}/members/{member}")
def add_group_member(ctx: Writing, group: GroupId, member: MemberId) -> GroupJson:
    """Take a member in."""
    groups.add(ctx, group, member)
    return _shown(ctx, group)


@routes.delete("/{group}/members/{member}")
def remove_group_member(ctx: Writing, group: GroupId, member: MemberId) -> GroupJson:
    """Let a member go."""
    groups.remove(ctx, group, member)
    return _shown(ctx, group)


@routes.delete("/{group}", status_code=204)
def delete_group(ctx: Writing, group: GroupId) -> None:
    """End a group. Its members lose what they had by it, and nothing else."""
    groups.delete(ctx, group)


def _shown(ctx: RequestContext, group: str) -> GroupJson:
    found = groups.get(ctx, group)
    return GroupJson(
        id=found.uid,
        name=found.name,
        built_in=found.built_in,
        member_ids=list(found.members),
        roles=list(found.roles),
    )
