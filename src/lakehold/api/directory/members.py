"""Endpoints of members and groups, of the removal of members, and of service accounts."""

from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import Query
from pydantic import AliasChoices, Field

from lakehold.api.directory.schemas import EmailText, MailedLink, MemberJson, SecretId, SignInJson, SignOutResultJson
from lakehold.api.http.dependencies import CreateContext, CurrentPlatform, ReadContext, WriteContext
from lakehold.api.http.models import (
    GENERATED_ID,
    IdText,
    IfMatch,
    NameText,
    RecordId,
    RecordTime,
    RequestModel,
    ResponseModel,
    TaggedResponse,
    Word,
)
from lakehold.api.http.paging import ListParams, PageResponse
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.directory import groups, links, member_removal, members, sign_ins
from lakehold.directory.request_context import RequestContext

routes = make_router("/api/v1/members", "Members")

MemberId = Annotated[IdText, Field(examples=["ana"])]


class NewMember(RequestModel):
    """A member to add without an invite."""

    name: NameText = Field(examples=["Ana, Analyst"])
    email: EmailText | None = None
    id: IdText | None = Field(default=None, examples=["ana"], description=GENERATED_ID)


class MemberUpdate(RequestModel):
    """Changes of a member; what is left out stays."""

    name: NameText | None = Field(default=None, examples=["Ana, Analyst"])
    email: EmailText | None = None


class RolesUpdate(RequestModel):
    """All roles that a member or group is to hold on the tenant."""

    roles: Annotated[list[Word], Field(max_length=20, examples=[["editor"]])]


class NewMemberLink(RequestModel):
    """The purpose of a link to create."""

    purpose: Literal["sign_in", "password"] = "sign_in"
    mail: bool = Field(default=False, description="Mail it to the member instead of showing it here.")
    revoke_tokens: bool = Field(default=False, description="Also revoke all API tokens of the member.")


class CreatedMemberLinkJson(ResponseModel):
    """A new link. It is returned here once, or was mailed."""

    purpose: str = Field(examples=["sign_in"])
    link: MailedLink = Field(examples=["http://127.0.0.1:8400/link/lhl_…"])
    until: RecordTime


@routes.get("")
def list_members(ctx: ReadContext, listed: ListParams) -> PageResponse[MemberJson]:
    """List all members of the tenant."""
    return PageResponse[MemberJson].model_validate(members.page(ctx, **asdict(listed)))


@routes.post("", status_code=201)
def add_member(ctx: CreateContext, body: NewMember) -> MemberJson:
    """Add a member without an invite.

    With an e-mail address they can sign in as soon as they have a link.
    """
    return _member_json(ctx, members.add(ctx, body.name, email=body.email or "", uid=ctx.accept_id(body.id)))


@routes.get("/{member}")
def get_member(ctx: ReadContext, member: MemberId) -> MemberJson:
    """Get a member's profile."""
    return _member_json(ctx, member)


@routes.patch("/{member}", responses=problem_responses(412, 428))
def change_member(ctx: WriteContext, member: MemberId, body: MemberUpdate, seen: IfMatch) -> MemberJson:
    """Change a member's name or e-mail address."""
    if body.email is not None:
        members.need_set_email(ctx, member)
    if body.name is not None or body.email is None:
        members.need_rename(ctx, member)
    seen.need(_member_json(ctx, member))
    if body.name is not None:
        members.rename(ctx, member, body.name)
    if body.email is not None:
        members.set_email(ctx, member, body.email)
    return _member_json(ctx, member)


@routes.put("/{member}/roles", responses=problem_responses(412, 428))
def set_member_roles(ctx: WriteContext, member: MemberId, body: RolesUpdate, seen: IfMatch) -> MemberJson:
    """Set the tenant and security roles of a member."""
    current = _member_json(ctx, member)
    members.need_set_tenant_roles(ctx, member, body.roles)
    seen.need(current)
    members.set_tenant_roles(ctx, member, body.roles)
    return _member_json(ctx, member)


@routes.post("/{member}/links", status_code=201)
def make_member_link(
    ctx: CreateContext, platform: CurrentPlatform, member: MemberId, body: NewMemberLink
) -> CreatedMemberLinkJson:
    """Create a link with which a member signs in, or sets a password."""
    link = links.create(ctx, platform.settings, member, body.purpose, mail=body.mail, revoke_tokens=body.revoke_tokens)
    return CreatedMemberLinkJson.model_validate(link)


@routes.get("/{member}/sign-ins")
def list_member_sign_ins(ctx: ReadContext, member: MemberId) -> PageResponse[SignInJson]:
    """List the sign-ins of a member."""
    return PageResponse[SignInJson].from_records(sign_ins.list_of_member(ctx, member))


@routes.delete("/{member}/sign-ins")
def end_member_sign_ins(ctx: WriteContext, member: MemberId) -> SignOutResultJson:
    """Sign a member out on all devices."""
    return SignOutResultJson(ended=sign_ins.end_all(ctx, member))


@routes.delete("/{member}/sign-ins/{sign_in}", status_code=204)
def end_member_sign_in(ctx: WriteContext, member: MemberId, sign_in: SecretId) -> None:
    """Sign a member out on one device."""
    sign_ins.end(ctx, member, sign_in)


class OwnedResourceJson(ResponseModel):
    """A resource that the member owns."""

    id: IdText = Field(validation_alias=AliasChoices("id", "resource"))
    name: NameText
    kind: Word = Field(examples=["marts.data_mart"])
    role: Word = Field(examples=["technical_owner"])


class RemovalPreview(ResponseModel):
    """The resources, tokens and sign-ins that a removal would affect."""

    member: IdText = Field(examples=["ana"])
    name: NameText = Field(examples=["Ana, Analyst"])
    owns: list[OwnedResourceJson]
    owns_more: bool = Field(
        validation_alias=AliasChoices("owns_more", "more"), description="Whether they own more than the caller may see."
    )
    tokens: int = Field(description="Number of API tokens that are revoked.")
    sign_ins: int = Field(description="Number of sign-ins that end.")


class RemovalResultJson(ResponseModel):
    """The result of a removal."""

    member: IdText = Field(examples=["ana"])
    name: NameText = Field(examples=["Ana, Analyst"])
    moved: list[OwnedResourceJson] = Field(description="Transferred to the new owner.")
    left: list[OwnedResourceJson] = Field(description="Left without this owner. Nothing was deleted.")
    more: bool = Field(description="Whether there is more that the caller may not see.")


@routes.get("/{member}/removal")
def preview_removal(ctx: ReadContext, member: MemberId) -> RemovalPreview:
    """Preview the removal of a member: what they own, and their tokens and sign-ins."""
    return RemovalPreview.model_validate(member_removal.preview(ctx, member))


@routes.delete("/{member}")
def remove_member(
    ctx: WriteContext,
    member: MemberId,
    receiver: Annotated[
        IdText | None,
        Query(examples=["mona"], description="New owner of what they own; without one, it is left without an owner."),
    ] = None,
) -> RemovalResultJson:
    """Remove a member, or leave.

    What they own is transferred or left without an owner; nothing is deleted. Their sign-ins, tokens and links end.
    """
    return RemovalResultJson.model_validate(member_removal.remove(ctx, member, receiver=receiver))


def _member_json(ctx: RequestContext, member: str) -> MemberJson:
    return MemberJson.model_validate(members.get(ctx, member))


service_account_routes = make_router("/api/v1/service-accounts", "Service accounts")


class NewServiceAccount(RequestModel):
    """A service account to create."""

    name: NameText = Field(examples=["Nightly import"])
    id: IdText | None = Field(default=None, examples=["nightly"], description=GENERATED_ID)


@service_account_routes.get("")
def list_service_accounts(ctx: ReadContext) -> PageResponse[MemberJson]:
    """List all service accounts, by name."""
    return PageResponse[MemberJson].from_records(members.list_service_accounts(ctx))


@service_account_routes.post("", status_code=201)
def create_service_account(ctx: CreateContext, body: NewServiceAccount) -> MemberJson:
    """Create a service account.

    It can do nothing until it is given roles and a token. For the rest it is a member like others.
    """
    return _member_json(ctx, members.create_service_account(ctx, body.name, uid=ctx.accept_id(body.id)))


group_routes = make_router("/api/v1/groups", "Groups")

GroupId = Annotated[IdText, Field(examples=["analysts"])]


class NewGroup(RequestModel):
    """A group to create."""

    name: NameText = Field(examples=["Analysts"])
    id: IdText | None = Field(default=None, examples=["analysts"], description=GENERATED_ID)


class GroupUpdate(RequestModel):
    """The new name of a group."""

    name: NameText = Field(examples=["Analysts"])


class GroupSummary(ResponseModel):
    """A group by name."""

    id: RecordId = Field(examples=["analysts"])
    name: NameText = Field(examples=["Analysts"])


class GroupJson(GroupSummary, TaggedResponse):
    """A group with its members."""

    built_in: bool = Field(description="Whether it is the built-in group All, which cannot be changed.")
    member_ids: list[str] = Field(
        validation_alias=AliasChoices("member_ids", "members"),
        examples=[["ana"]],
        description="The ids of its members, by name; none for All.",
    )
    roles: list[str] = Field(examples=[["viewer"]], description="The tenant and security roles that it holds.")


@group_routes.get("")
def list_groups(ctx: ReadContext, listed: ListParams) -> PageResponse[GroupSummary]:
    """List all groups but the built-in one."""
    return PageResponse[GroupSummary].model_validate(groups.page(ctx, **asdict(listed)))


@group_routes.post("", status_code=201)
def create_group(ctx: CreateContext, body: NewGroup) -> GroupJson:
    """Create a group without members."""
    return _group_json(ctx, groups.create(ctx, body.name, uid=ctx.accept_id(body.id)))


@group_routes.get("/{group}")
def get_group(ctx: ReadContext, group: GroupId) -> GroupJson:
    """Get a group with its members."""
    return _group_json(ctx, group)


@group_routes.patch("/{group}", responses=problem_responses(412, 428))
def rename_group(ctx: WriteContext, group: GroupId, body: GroupUpdate, seen: IfMatch) -> GroupJson:
    """Rename a group."""
    groups.need_edit(ctx, group)
    seen.need(_group_json(ctx, group))
    groups.rename(ctx, group, body.name)
    return _group_json(ctx, group)


@group_routes.put("/{group}/roles", responses=problem_responses(412, 428))
def set_group_roles(ctx: WriteContext, group: GroupId, body: RolesUpdate, seen: IfMatch) -> GroupJson:
    """Set the tenant and security roles of a group."""
    current = _group_json(ctx, group)
    members.need_set_tenant_roles(ctx, group, body.roles)
    seen.need(current)
    members.set_tenant_roles(ctx, group, body.roles)
    return _group_json(ctx, group)


@group_routes.put("/{group}/members/{member}")
def add_group_member(ctx: WriteContext, group: GroupId, member: MemberId) -> GroupJson:
    """Add a member to a group."""
    groups.add(ctx, group, member)
    return _group_json(ctx, group)


@group_routes.delete("/{group}/members/{member}")
def remove_group_member(ctx: WriteContext, group: GroupId, member: MemberId) -> GroupJson:
    """Remove a member from a group."""
    groups.remove(ctx, group, member)
    return _group_json(ctx, group)


@group_routes.delete("/{group}", status_code=204)
def delete_group(ctx: WriteContext, group: GroupId) -> None:
    """Delete a group. Its members lose what they had by it, and nothing else."""
    groups.delete(ctx, group)


def _group_json(ctx: RequestContext, group: str) -> GroupJson:
    return GroupJson.model_validate(groups.get(ctx, group))
