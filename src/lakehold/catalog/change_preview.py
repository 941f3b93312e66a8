"""Preview of the effects of a change, of what the caller may see, and who may know about others' access."""

from collections.abc import Sequence

from lakehold.access import Add, Remove
from lakehold.access.decisions.what_if import AccessEffects
from lakehold.access.facts.records import mentioned_ids
from lakehold.catalog import resource_view
from lakehold.directory.request_context import RequestContext

ASK = "ask_about_others"


def preview(ctx: RequestContext, changes: Sequence[Add | Remove]) -> AccessEffects:
    """Return the effects of changes that the caller may make, or may ask about, without making them.

    Resources that the caller may not see are neither named nor counted.
    """
    if not may_ask_about_others(ctx):
        for change in changes:
            ctx.need_change(change)
    for change in changes:
        for uid in mentioned_ids(change.fact):
            ctx.need_visible(uid, "preview")
    return visible_effects(ctx, ctx.session.what_if(list(changes)))


def visible_effects(ctx: RequestContext, effects: AccessEffects) -> AccessEffects:
    """Return the effects on resources that the caller may see."""
    return effects.restrict(resource_view.VisibleRefs(ctx).sees)


def may_ask_about_others(ctx: RequestContext) -> bool:
    """Whether the caller may know what others may do, anywhere in the tenant."""
    return ctx.session.check(ctx.principal, ASK, ctx.caller.tenant)


def gives_roles_on(ctx: RequestContext, uid: str) -> bool:
    """Whether the caller gives some role on this resource, and so has to know who holds what."""
    roles = ctx.session.read_view(lambda view: list(view.policy.kinds[view.kind(view.resource(uid))].schema.roles))
    return any(ctx.session.check(ctx.principal, "give", uid, role=role) for role in roles)


def may_know_holders(ctx: RequestContext, uid: str) -> bool:
    """Whether the caller may know what others may do with this resource."""
    return gives_roles_on(ctx, uid) or may_ask_about_others(ctx)
