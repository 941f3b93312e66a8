"""Members."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field

from lakehold.api.directory import people, sign_in_list
from lakehold.api.directory.people import MemberJson
from lakehold.api.directory.sign_in_list import Ended, SignInJson
from lakehold.api.directory.texts import EmailText, SecretId
from lakehold.api.frame.etags import IfMatch
from lakehold.api.frame.models import Answer, Body, IdText, NameText, Search, Time, Word, time_of
from lakehold.api.frame.paging import Page, Paged
from lakehold.api.frame.routes import problems, router
from lakehold.api.frame.works import Creating, House, Reading, Writing
from lakehold.directory import links, members, sign_ins

routes = router("/api/v1/members", "Members")

Sort = Literal["name", "-name", "created", "-created"]
MemberId = Annotated[IdText, Field(examples=["ana"])]


class NewMember(Body):
    """Somebody who is added without an invite."""

    name: NameText = Field(examples=["Ana, Analyst"])
    email: EmailText | None = None
    id: IdText | None = Field(default=None, examples=["ana"], description="Without one it is made.")


class ChangedMember(Body):
    """What is to be different; what is left out stays."""

    name: NameText | None = Field(default=None, examples=["Ana, Analyst"])
    email: EmailText | None = None


class WantedRoles(Body):
    """All roles that it is to hold on the tenant."""

    roles: Annotated[list[Word], Field(max_length=20, examples=[["editor"]])]


class WantedLink(Body):
    """What the link is for."""

    purpose: Literal["sign_in", "password"] = "sign_in"
    mail: bool = Field(default=False, description="Mail it to the member instead of showing it here.")


class MadeLink(Answer):
    """A new link. It is shown here and now, or was mailed."""

    purpose: str = Field(examples=["sign_in"])
    link: str | None = Field(examples=["http://127.0.0.1:8400/link/lhl_…"], description="Null if it was mailed.")
    until: Time


@routes.get("")
def list_members(
    ctx: Reading,
    paged: Paged,
    search: Annotated[Search, Query(description="A part of the name.")] = "",
    sort: Sort = "name",
) -> Page[MemberJson]:
    """All members of the tenant."""
    found = members.page(ctx, search=search, sort=sort, after=paged.after, limit=paged.limit)
    return Page(items=[people.told(member) for member in found.items], next=found.after)


@routes.post("", status_code=201)
def add_member(ctx: Creating, body: NewMember) -> MemberJson:
    """Add a member without an invite.

    With an e-mail address they can sign in as soon as they have a link.
    """
    made = members.add(ctx, body.name, email=body.email or "", uid=body.id)
    return people.told(members.get(ctx, made))


@routes.get("/{member}")
def get_member(ctx: Reading, member: MemberId) -> MemberJson:
    """A member's profile."""
    return people.told(members.get(ctx, member))


@routes.patch("/{member}", responses=problems(412, 428))
def change_member(ctx: Writing, member: MemberId, body: ChangedMember, seen: IfMatch) -> MemberJson:
    """Rename a member, or let them sign in with another e-mail address."""
    if body.email is not None:
        members.need_set_email(ctx, member)
    if body.name is not None or body.email is None:
        members.need_rename(ctx, member)
    seen.need(people.told(members.get(ctx, member)))
    if body.name is not None:
        members.rename(ctx, member, body.name)
    if body.email is not None:
        members.set_email(ctx, member, body.email)
    return people.told(members.get(ctx, member))


@routes.put("/{member}/roles", responses=problems(412, 428))
def set_member_roles(ctx: Writing, member: MemberId, body: WantedRoles, seen: IfMatch) -> MemberJson:
    """Let these be the tenant and security roles of a member."""
    current = people.told(members.get(ctx, member))
    members.need_set_tenant_roles(ctx, member, body.roles)
    seen.need(current)
    members.set_tenant_roles(ctx, member, body.roles)
    return people.told(members.get(ctx, member))


@routes.post("/{member}/links", status_code=201)
def make_member_link(ctx: Creating, platform: House, member: MemberId, body: WantedLink) -> MadeLink:
    """Make a link with which a member signs in, or sets a password."""
    made = links.create(ctx, platform.settings, member, body.purpose, mail=body.mail)
    return MadeLink(purpose=made.purpose, link=made.link or None, until=time_of(made.until))


@routes.get("/{member}/sign-ins")
def list_member_sign_ins(ctx: Reading, member: MemberId) -> Page[SignInJson]:
    """Where is a member signed in?"""
    return Page(items=[sign_in_list.told(found) for found in sign_ins.list_of_member(ctx, member)])


@routes.delete("/{member}/sign-ins")
def end_member_sign_ins(ctx: Writing, member: MemberId) -> Ended:
    """Sign a member out everywhere."""
    return Ended(ended=sign_ins.end_all(ctx, member))


@routes.delete("/{member}/sign-ins/{sign_in}", status_code=204)
def end_member_sign_in(ctx: Writing, member: MemberId, sign_in: SecretId) -> None:
    """Sign a member out on one device."""
    sign_ins.end(ctx, member, sign_in)
