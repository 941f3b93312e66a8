"""Somebody leaves a workspace: what they own in it is handed over, or stays theirs should they come back."""

from __future__ import annotations

from lakehold.access.model.policy import MEMBER
from lakehold.catalog import kinds, ownership
from lakehold.directory import ownership as property_of
from lakehold.directory.ownership import Owned
from lakehold.directory.work import Work
from lakehold.kit.errors import InvalidInputError


def owned(work: Work, uid: str, subject: str) -> list[Owned]:
    """What a member owns in a workspace, of what the caller may see; a group owns nothing."""
    if work.view.kind(work.view.resource(subject)) != MEMBER:
        return []
    return [
        each
        for each in property_of.of(work, subject)
        if each.resource != uid
        and work.session.asking(lambda view, one=each: kinds.workspace_of(view, one.resource)) == uid  # type: ignore[misc]
        and work.session.sees(work.asker, each.resource)
    ]


def hand_over(work: Work, uid: str, subject: str, receiver: str) -> tuple[list[Owned], list[Owned]]:
    """Let another member own it, as far as the model lets the caller give it away: what went, and what stays."""
    work.see(subject, "revoke")
    work.see(receiver, "grant")
    if receiver == subject or work.view.kind(work.view.resource(receiver)) != MEMBER:
        raise InvalidInputError("It is handed over to another member.", "Name somebody else.")
    moved: list[Owned] = []
    left: list[Owned] = []
    for each in owned(work, uid, subject):
        if property_of.may_hand_over(work, each, receiver):
            ownership.transfer(work, each.resource, each.role, receiver, from_=subject)
            moved.append(each)
        else:
            left.append(each)
    return moved, left
