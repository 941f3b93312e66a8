"""Seeing with another member's eyes: what they may see and do, and nothing else. Nothing can be changed meanwhile."""

from __future__ import annotations

from dataclasses import replace

from lakehold.directory.caller import Caller
from lakehold.directory.work import Work
from lakehold.kit.errors import ConflictError, ForbiddenError

VIEW_AS = "view_as"
_ABOVE = "manage_owners"


def may_view_as(work: Work, member: str) -> Caller:
    """The caller as they look with the member's eyes, refused unless they may. Asked anew for every request."""
    if work.caller.behind:
        raise ConflictError("You already view as somebody else.", "Stop that first.")
    if work.caller.narrowed is not None and work.caller.narrowed.is_narrowed:
        raise ForbiddenError("A narrowed token sees with nobody else's eyes.", "Use one that is not narrowed.")
    work.view.member(member)
    work.need(VIEW_AS, work.caller.tenant)
    if member == work.caller.member:
        raise ConflictError("You see with your own eyes already.", "Name somebody else.")
    # Who manages Owners is seen as only by who does too, or an Admin would see what is an Owner's alone.
    if work.session.check(member, _ABOVE, work.caller.tenant):
        work.need(_ABOVE, work.caller.tenant)
    return replace(work.caller, member=member, behind=work.caller.member, narrowed=None)


def begin(work: Work, member: str) -> Caller:
    """Begin to see with a member's eyes; it is written down. Everything after this is done as the returned caller."""
    seen = may_view_as(work, member)
    work.writing()
    work.note("view as", member)
    return seen


def end(work: Work) -> None:
    """Stop it; that is written down too."""
    if not work.caller.behind:
        raise ConflictError("You view as nobody else.", "There is nothing to stop.")
    if not work.session.transaction.writes:
        raise ForbiddenError("This transaction only reads.", "Begin one that writes.")
    work.note("stop viewing as", work.caller.member)
