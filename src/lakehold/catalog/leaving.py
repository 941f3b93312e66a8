"""Somebody leaves a workspace: what they own in it is handed over, or stays theirs should they come back."""

from __future__ import annotations

from lakehold.access.model.policy import MEMBER
from lakehold.catalog import kinds, ownership
from lakehold.directory import ownership as property_of
from lakehold.directory.ownership import Owned
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError


def owned(ctx: RequestContext, uid: str, subject: str) -> list[Owned]:
    """What a member owns in a workspace, of what the caller may see; a group owns nothing."""
    if ctx.view.kind(ctx.view.resource(subject)) != MEMBER:
        return []
    return [
        each
        for each in property_of.of(ctx, subject)
        if each.resource != uid
        and ctx.session.read_view(lambda view, one=each: kinds.workspace_of(view, one.resource)) == uid  # type: ignore[misc]
        and ctx.session.can_see(ctx.asker, each.resource)
    ]


def hand_over(ctx: RequestContext, uid: str, subject: str, receiver: str) -> tuple[list[Owned], list[Owned]]:
    """Let another member own it, as far as the model lets the caller give it away: what went, and what stays."""
    ctx.see(subject, "revoke")
    ctx.see(receiver, "grant")
    if receiver == subject or ctx.view.kind(ctx.view.resource(receiver)) != MEMBER:
        raise InvalidInputError("It is handed over to another member.", "Name somebody else.")
    moved: list[Owned] = []
    left: list[Owned] = []
    for each in owned(ctx, uid, subject):
        if property_of.may_hand_over(ctx, each, receiver):
            ownership.transfer(ctx, each.resource, each.role, receiver, from_=subject)
            moved.append(each)
        else:
            left.append(each)
    return moved, left
