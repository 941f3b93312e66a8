"""Preview and confirmation of a new version of an access model that is in use."""

from hashlib import sha256

from lakehold.access import Adopt
from lakehold.access.decisions.what_if import AccessEffects
from lakehold.access.model.policy import MANAGE_MODELS
from lakehold.directory.access_models import need_adoptable
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError


class UnconfirmedEffectsError(ConflictError):
    """A new version of a model gives or takes access, and the caller has not confirmed these effects."""

    code = "effects_not_confirmed"


def preview(ctx: RequestContext, source: str) -> AccessEffects:
    """Return who would gain and lose what by adopting a model, for those who may adopt it."""
    ctx.need(MANAGE_MODELS, ctx.caller.tenant)
    ctx.session.read_view(lambda view: need_adoptable(view, source))
    return ctx.session.what_if([Adopt(source)])


def confirmation_code(source: str, effects: AccessEffects) -> str:
    """Return the code that stands for a text and its effects: it changes when either does."""
    return sha256(f"{source}\n{effects.groups}".encode()).hexdigest()[:32]


def need_confirmed(ctx: RequestContext, source: str, code: str) -> None:
    """Refuse a model by which somebody gains or loses access, unless the caller confirms the present effects."""
    effects = preview(ctx, source)
    if effects.groups and code != confirmation_code(source, effects):
        gained = sum(group.pairs for group in effects.groups if group.gained)
        lost = sum(group.pairs for group in effects.groups if not group.gained)
        raise UnconfirmedEffectsError(
            f"This version gives {gained} and takes {lost} rights of members on resources.",
            "Look at them with POST /api/v1/access/models/try, and send its `confirm` along.",
            field="confirm",
        )
