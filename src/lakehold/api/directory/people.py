"""Members as answers tell them."""

from __future__ import annotations

from pydantic import Field

from lakehold.api.frame.etags import Tagged
from lakehold.api.frame.models import IdText, NameText, Time, time_of
from lakehold.directory.members import Member


class MemberJson(Tagged):
    """A member, as the caller may see them."""

    id: IdText = Field(examples=["ana"])
    name: NameText = Field(examples=["Ana, Analyst"])
    email: str | None = Field(
        examples=["ana@example.org"], description="Null if there is none, or if it is not for the caller."
    )
    service: bool = Field(description="Whether it is a service account, to which nobody signs in.")
    roles: list[str] = Field(examples=[["editor"]], description="The tenant and security roles of their own.")
    groups: list[str] = Field(examples=[["analysts"]], description="The ids of their groups.")
    since: Time


def told(member: Member) -> MemberJson:
    """The member as an answer."""
    return MemberJson(
        id=member.uid,
        name=member.name,
        email=member.email,
        service=member.service,
        roles=list(member.roles),
        groups=list(member.groups),
        since=time_of(member.since),
    )
