"""One evaluation: what its words mean here, and the decision.

What does not exist, or may not be seen by the caller, is denied with the reason in the decision's context. This is
also the one place where the properties that a request brings along are handed to the engine.
"""

from __future__ import annotations

from collections.abc import Iterable

from lakehold.access import RequestProperties
from lakehold.access.decisions.principal import Principal
from lakehold.access.facts.view import FactView
from lakehold.access.model.errors import did_you_mean
from lakehold.access.model.policy import MEMBER
from lakehold.access.session import AccessQueries
from lakehold.api.access.asking import Asking
from lakehold.api.authzen.entities import Action, Context, Decision, Properties, Resource, Subject
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ForbiddenError, InvalidInputError, LakeholdError, NotFoundError
from lakehold.kit.ids import quote

_SUBJECTS = ("member", MEMBER)


def decide(ctx: RequestContext, subject: Subject, action: Action, resource: Resource, context: Context | None) -> bool:
    """The decision, or a refusal to make one."""
    asker = asker_of(ctx, subject)
    uid = resource_of(ctx, resource)
    questions = given(ctx, subject.properties, resource.properties, context)
    return questions.check(asker, action.name, uid)


def decision(
    ctx: RequestContext, subject: Subject, action: Action, resource: Resource, context: Context | None
) -> Decision:
    """The same as an answer: what has no decision is denied, with the reason."""
    try:
        return Decision(decision=decide(ctx, subject, action, resource, context))
    except LakeholdError as error:
        status = 400 if error.status == InvalidInputError.status else error.status
        return Decision(
            decision=False,
            context={"reason": error.message, "error": {"status": status, "code": error.code, "message": str(error)}},
        )


def given(ctx: RequestContext, subject: Properties, resource: Properties, context: Context | None) -> AccessQueries:
    """Questions that bring these properties along."""
    if not subject and not resource and not context:
        return ctx.session
    return ctx.session.with_properties(RequestProperties(subject, resource, context or {}))


def asker_of(ctx: RequestContext, subject: Subject) -> Principal:
    """Whom the question is about. Asking about others is a right; here its lack is told, not written down."""
    need_subject_type(subject.type)
    if subject.id != ctx.caller.member:
        need_others(ctx)
    return Asking(ctx).subject(subject.id)


def need_others(ctx: RequestContext) -> None:
    """Refuse whoever may not ask about others."""
    if not ctx.session.check(ctx.asker, "ask_about_others", ctx.caller.tenant):
        raise ForbiddenError("You may not ask about others.", "Ask about yourself, or ask an admin for the right.")


def resource_of(ctx: RequestContext, resource: Resource) -> str:
    """The resource, if it is there, of that kind, and the caller may know of it."""
    kind = kind_of(ctx, resource.type)
    Asking(ctx).see((resource.id,))
    view = ctx.view
    if view.kind(view.resource(resource.id)) != kind:
        raise NotFoundError(f"There is no {kind} {quote(resource.id)}.", "Look the id up in a list.")
    return resource.id


def kind_of(ctx: RequestContext, name: str) -> str:
    """The kind of this name, or of this short name if only one model has it."""
    return ctx.session.read_view(lambda view: _kind(view, name))


def _kind(view: FactView, name: str) -> str:
    kinds = view.policy.kinds
    if name in kinds:
        return name
    short = [kind for kind in kinds if kind.rpartition(".")[2] == name]
    if len(short) == 1:
        return short[0]
    if short:
        raise InvalidInputError(f"Several models have a {quote(name)}.", f"Say which: {_listed(short)}.")
    raise InvalidInputError(f"There is no resource type {quote(name)}.", did_you_mean(name, kinds))


def need_subject_type(name: str) -> None:
    """Refuse what is no type of subject."""
    if name not in _SUBJECTS:
        raise InvalidInputError(f"There is no subject type {quote(name)}.", "Use member.")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
