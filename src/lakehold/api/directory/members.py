"""Endpoints of members, their removal, and service accounts."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query
from pydantic import AliasChoices, Field

from lakehold.api.directory.schemas import EmailText, MemberJson, SecretId, SignInJson, SignOutResultJson
from lakehold.api.http.dependencies import CreateContext, CurrentPlatform, ReadContext, WriteContext
from lakehold.api.http.models import (
    IdText,
    IfMatch,
    NameText,
    RequestModel,
    ResponseModel,
    SearchText,
    Time,
    Word,
    to_datetime,
)
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.directory import links, member_removal, members, sign_ins

routes = make_router("/api/v1/members", "Members")

Sort = Literal["name", "-name", "created", "-created"]
MemberId = Annotated[IdText, Field(examples=["ana"])]


class NewMember(RequestModel):
    """A member to add without an invite."""

    name: NameText = Field(examples=["Ana, Analyst"])
    email: EmailText | None = None
    id: IdText | None = Field(default=None, examples=["ana"], description="Without one it is made.")


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


class CreatedMemberLinkJson(ResponseModel):
    """A new link. It is returned here once, or was mailed."""

    purpose: str = Field(examples=["sign_in"])
    link: str | None = Field(examples=["http://127.0.0.1:8400/link/lhl_…"], description="Null if it was mailed.")
    until: Time


@routes.get("")
def list_members(
    ctx: ReadContext,
    paged: PageParams,
    search: Annotated[SearchText, Query(description="A part of the name.")] = "",
    sort: Sort = "name",
) -> PageResponse[MemberJson]:
    """List all members of the tenant."""
    found = members.page(ctx, search=search, sort=sort, after=paged.after, limit=paged.limit)
    return PageResponse(items=[MemberJson.model_validate(member) for member in found.items], next=found.after)


@routes.post("", status_code=201)
def add_member(ctx: CreateContext, body: NewMember) -> MemberJson:
    """Add a member without an invite.

    With an e-mail address they can sign in as soon as they have a link.
    """
    made = members.add(ctx, body.name, email=body.email or "", uid=body.id)
    return MemberJson.model_validate(members.get(ctx, made))


@routes.get("/{member}")
def get_member(ctx: ReadContext, member: MemberId) -> MemberJson:
    """Get a member's profile."""
    return MemberJson.model_validate(members.get(ctx, member))


@routes.patch("/{member}", responses=problem_responses(412, 428))
def change_member(ctx: WriteContext, member: MemberId, body: MemberUpdate, seen: IfMatch) -> MemberJson:
    """Change a member's name or e-mail address."""
    if body.email is not None:
        members.need_set_email(ctx, member)
    if body.name is not None or body.email is None:
        members.need_rename(ctx, member)
    seen.need(MemberJson.model_validate(members.get(ctx, member)))
    if body.name is not None:
        members.rename(ctx, member, body.name)
    if body.email is not None:
        members.set_email(ctx, member, body.email)
    return MemberJson.model_validate(members.get(ctx, member))


@routes.put("/{member}/roles", responses=problem_responses(412, 428))
def set_member_roles(ctx: WriteContext, member: MemberId, body: RolesUpdate, seen: IfMatch) -> MemberJson:
    """Set the tenant and security roles of a member."""
    current = MemberJson.model_validate(members.get(ctx, member))
    members.need_set_tenant_roles(ctx, member, body.roles)
    seen.need(current)
    members.set_tenant_roles(ctx, member, body.roles)
    return MemberJson.model_validate(members.get(ctx, member))


@routes.post("/{member}/links", status_code=201)
def make_member_link(
    ctx: CreateContext, platform: CurrentPlatform, member: MemberId, body: NewMemberLink
) -> CreatedMemberLinkJson:
    """Create a link with which a member signs in, or sets a password."""
    made = links.create(ctx, platform.settings, member, body.purpose, mail=body.mail)
    return CreatedMemberLinkJson(purpose=made.purpose, link=made.link or None, until=to_datetime(made.until))


@routes.get("/{member}/sign-ins")
def list_member_sign_ins(ctx: ReadContext, member: MemberId) -> PageResponse[SignInJson]:
    """List the sign-ins of a member."""
    return PageResponse(items=[SignInJson.model_validate(found) for found in sign_ins.list_of_member(ctx, member)])


@routes.delete("/{member}/sign-ins")
def end_member_sign_ins(ctx: WriteContext, member: MemberId) -> SignOutResultJson:
    """Sign a member out on all devices."""
    return SignOutResultJson(ended=sign_ins.end_all(ctx, member))


@routes.delete("/{member}/sign-ins/{sign_in}", status_code=204)
def end_member_sign_in(ctx: WriteContext, member: MemberId, sign_in: SecretId) -> None:
    """Sign a member out on one device."""
    sign_ins.end(ctx, member, sign_in)


service_account_routes = make_router("/api/v1/service-accounts", "Service accounts")


class NewServiceAccount(RequestModel):
    """A service account to create."""

    name: NameText = Field(examples=["Nightly import"])
    id: IdText | None = Field(default=None, examples=["nightly"], description="Without one it is made.")


@service_account_routes.get("")
def list_service_accounts(ctx: ReadContext) -> PageResponse[MemberJson]:
    """List all service accounts, by name."""
    return PageResponse(items=[MemberJson.model_validate(found) for found in members.list_service_accounts(ctx)])


@service_account_routes.post("", status_code=201)
def create_service_account(ctx: CreateContext, body: NewServiceAccount) -> MemberJson:
    """Create a service account.

    It can do nothing until it is given roles and a token. For the rest it is a member like others.
    """
    return MemberJson.model_validate(members.get(ctx, members.create_service_account(ctx, body.name, uid=body.id)))


removal_routes = make_router("/api/v1/members", "Members")


class OwnedResourceJson(ResponseModel):
    """A resource that the member owns."""

    id: IdText = Field(validation_alias=AliasChoices("id", "resource"))
    name: NameText
    kind: Word = Field(examples=["marts.data_mart"])
    role: Word = Field(examples=["technical_owner"])


class RemovalPreview(ResponseModel):
    """What a removal would affect."""

    member: IdText = Field(examples=["ana"])
    name: NameText = Field(examples=["Ana, Analyst"])
    owns: list[OwnedResourceJson]
    owns_more: bool = Field(
        validation_alias=AliasChoices("owns_more", "more"), description="Whether they own more than the caller may see."
    )
    tokens: int = Field(description="How many API tokens end with them.")
    sign_ins: int = Field(description="On how many devices they are signed out.")


class RemovalResultJson(ResponseModel):
    """The result of a removal."""

    member: IdText = Field(examples=["ana"])
    name: NameText = Field(examples=["Ana, Analyst"])
    moved: list[OwnedResourceJson] = Field(description="What the receiver holds now.")
    left: list[OwnedResourceJson] = Field(description="What nobody was given. Nothing of it was deleted.")
    more: bool = Field(description="Whether there is more that the caller may not see.")


@removal_routes.get("/{member}/removal")
def preview_removal(ctx: ReadContext, member: MemberId) -> RemovalPreview:
    """Preview what a member owns, before removing them."""
    return RemovalPreview.model_validate(member_removal.preview(ctx, member))


@removal_routes.delete("/{member}")
def remove_member(
    ctx: WriteContext,
    member: MemberId,
    receiver: Annotated[
        IdText | None, Query(examples=["mona"], description="Who gets what they own. Without one it is left.")
    ] = None,
) -> RemovalResultJson:
    """Remove a member, or leave.

    What they own is transferred or left without an owner; nothing is deleted. Their sign-ins, tokens and links end.
    """
    return RemovalResultJson.model_validate(member_removal.remove(ctx, member, receiver=receiver))
