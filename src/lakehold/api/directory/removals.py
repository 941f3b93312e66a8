"""A member leaves, or is removed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from fastapi import Query
from pydantic import Field

from lakehold.api.directory.members import MemberId
from lakehold.api.frame.models import Answer, IdText, NameText, Word
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Reading, Writing
from lakehold.directory import member_removal
from lakehold.directory.member_removal import OwnedRole

routes = router("/api/v1/members", "Members")


class OwnedJson(Answer):
    """Something that the member owns."""

    id: IdText
    name: NameText
    kind: Word = Field(examples=["marts.data_mart"])
    role: Word = Field(examples=["technical_owner"])


class RemovalPreview(Answer):
    """What would become of a member's things."""

    member: IdText = Field(examples=["ana"])
    name: NameText = Field(examples=["Ana, Analyst"])
    owns: list[OwnedJson]
    owns_more: bool = Field(description="Whether they own more than the caller may see.")
    tokens: int = Field(description="How many API tokens end with them.")
    sign_ins: int = Field(description="On how many devices they are signed out.")


class RemovedJson(Answer):
    """What has become of them."""

    member: IdText = Field(examples=["ana"])
    name: NameText = Field(examples=["Ana, Analyst"])
    moved: list[OwnedJson] = Field(description="What the receiver holds now.")
    left: list[OwnedJson] = Field(description="What nobody was given. Nothing of it was deleted.")
    more: bool = Field(description="Whether there is more that the caller may not see.")


@routes.get("/{member}/removal")
def preview_removal(ctx: Reading, member: MemberId) -> RemovalPreview:
    """What does a member own, before they are removed?"""
    found = member_removal.preview(ctx, member)
    return RemovalPreview(
        member=found.member,
        name=found.name,
        owns=_told(found.owns),
        owns_more=found.more,
        tokens=found.tokens,
        sign_ins=found.sign_ins,
    )


@routes.delete("/{member}")
def remove_member(
    ctx: Writing,
    member: MemberId,
    receiver: Annotated[
        IdText | None, Query(examples=["mona"], description="Who gets what they own. Without one it is left.")
    ] = None,
) -> RemovedJson:
    """Remove a member, or leave.

    What they own is handed over or left without an owner; nothing is deleted. Their sign-ins, tokens and links end.
    """
    done = member_removal.remove(ctx, member, receiver=receiver)
    return RemovedJson(
        member=done.member, name=done.name, moved=_told(done.moved), left=_told(done.left), more=done.more
    )


def _told(owned: Iterable[OwnedRole]) -> list[OwnedJson]:
    return [OwnedJson(id=one.resource, name=one.name, kind=one.kind, role=one.role) for one in owned]
