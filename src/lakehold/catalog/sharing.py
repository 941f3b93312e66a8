"""What a change would do, before it is made: who would win and who would lose what, of what the caller may see."""

from __future__ import annotations

from collections.abc import Sequence

from lakehold.access import Add, Remove
from lakehold.access.decisions.what_if import AccessEffects
from lakehold.catalog import shapes
from lakehold.directory.request_context import RequestContext

ASK = "ask_about_others"


def preview(ctx: RequestContext, changes: Sequence[Add | Remove]) -> AccessEffects:
    """The effects of changes that the caller may make, or may ask about. Nothing is made.

    Resources that the caller may not see are neither named nor counted.
    """
    if not may_ask_about_others(ctx):
        for change in changes:
            ctx.need_change(change)
    for change in changes:
        _see(ctx, change)
    return seen(ctx, ctx.session.what_if(list(changes)))


def seen(ctx: RequestContext, effects: AccessEffects) -> AccessEffects:
    """What is left of effects for the caller's eyes."""
    return effects.restrict(shapes.VisibleRefs(ctx).sees)


def may_ask_about_others(ctx: RequestContext) -> bool:
    """Whether the caller may know what others may do, anywhere in the tenant."""
    return ctx.session.check(ctx.asker, ASK, ctx.caller.tenant)


def gives_here(ctx: RequestContext, uid: str) -> bool:
    """Whether the caller gives some role on this resource, and so has to know who holds what."""
    roles = ctx.session.read_view(lambda view: list(view.policy.kinds[view.kind(view.resource(uid))].schema.roles))
    return any(ctx.session.check(ctx.asker, "give", uid, role=role) for role in roles)


def may_know_holders(ctx: RequestContext, uid: str) -> bool:
    """Whether the caller may know what others may do with this resource."""
    return gives_here(ctx, uid) or may_ask_about_others(ctx)


def _see(ctx: RequestContext, change: Add | Remove) -> None:
    fact = change.fact
    for name in ("resource", "source", "target", "subject", "member"):
        uid = getattr(fact, name, None)
        if uid is not None:
            ctx.see(uid, "preview")
