"""What a change would do, before it is made: who would win and who would lose what, of what the caller may see."""

from __future__ import annotations

from collections.abc import Sequence

from lakehold.access import Add, Remove
from lakehold.access.decide.effects import Effects
from lakehold.catalog import shapes
from lakehold.directory.work import Work

ASK = "ask_about_others"


def preview(work: Work, changes: Sequence[Add | Remove]) -> Effects:
    """The effects of changes that the caller may make, or may ask about. Nothing is made.

    Resources that the caller may not see are neither named nor counted.
    """
    if not may_ask_about_others(work):
        for change in changes:
            work.need_change(change)
    for change in changes:
        _see(work, change)
    return seen(work, work.session.what_if(list(changes)))


def seen(work: Work, effects: Effects) -> Effects:
    """What is left of effects for the caller's eyes."""
    return effects.only(shapes.Eyes(work).sees)


def may_ask_about_others(work: Work) -> bool:
    """Whether the caller may know what others may do, anywhere in the tenant."""
    return work.session.check(work.asker, ASK, work.caller.tenant)


def gives_here(work: Work, uid: str) -> bool:
    """Whether the caller gives some role on this resource, and so has to know who holds what."""
    roles = work.session.asking(lambda view: list(view.policy.kinds[view.kind(view.resource(uid))].schema.roles))
    return any(work.session.check(work.asker, "give", uid, role=role) for role in roles)


def may_know_holders(work: Work, uid: str) -> bool:
    """Whether the caller may know what others may do with this resource."""
    return gives_here(work, uid) or may_ask_about_others(work)


def _see(work: Work, change: Add | Remove) -> None:
    fact = change.fact
    for name in ("resource", "source", "target", "subject", "member"):
        uid = getattr(fact, name, None)
        if uid is not None:
            work.see(uid, "preview")
