"""Preview of the effects of a change, of what the caller may see, and who may know about others' access.

A new version of an access model that gives or takes access is adopted only with a confirmation of its effects.
"""

from collections.abc import Sequence
from hashlib import sha256

from lakehold.access import Add, Adopt, Remove
from lakehold.access.decisions.what_if import AccessEffects
from lakehold.access.facts.records import mentioned_ids
from lakehold.access.model.policy import MANAGE_MODELS
from lakehold.catalog import resource_view
from lakehold.directory.access_models import need_adoptable
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError

ASK = "ask_about_others"


def preview(ctx: RequestContext, changes: Sequence[Add | Remove]) -> AccessEffects:
    """Return the effects, on what the caller may see, of changes that they may make or may ask about."""
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


class UnconfirmedEffectsError(ConflictError):
    """A new version of a model gives or takes access, and the caller has not confirmed these effects."""

    code = "effects_not_confirmed"


def preview_model(ctx: RequestContext, source: str) -> AccessEffects:
    """Return who would gain and lose what by adopting a model, for those who may adopt it."""
    ctx.need(MANAGE_MODELS, ctx.caller.tenant)
    ctx.session.read_view(lambda view: need_adoptable(view, source))
    return ctx.session.what_if([Adopt(source)])


def confirmation_code(source: str, effects: AccessEffects) -> str:
    """Return the code that stands for a text and its effects: it changes when either does."""
    return sha256(f"{source}\n{effects.groups}".encode()).hexdigest()[:32]


def need_confirmed(ctx: RequestContext, source: str, code: str) -> None:
    """Refuse a model by which somebody gains or loses access, unless the caller confirms the present effects."""
    effects = preview_model(ctx, source)
    if effects.groups and code != confirmation_code(source, effects):
        gained = sum(group.pairs for group in effects.groups if group.gained)
        lost = sum(group.pairs for group in effects.groups if not group.gained)
        raise UnconfirmedEffectsError(
            f"This version gives {gained} and takes {lost} rights of members on resources.",
            "Look at them with POST /api/v1/access/models/try, and send its `confirm` along.",
            field="confirm",
        )
