"""One evaluation, or many."""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

from pydantic import Field

from lakehold.api.authzen.deciding import decide, decision
from lakehold.api.authzen.entities import Action, Context, Decision, Entity, Resource, Subject
from lakehold.api.frame.models import Answer
from lakehold.api.frame.routes import problems, router
from lakehold.api.frame.works import Reading
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, NotFoundError

routes = router("/access/v1", "AuthZEN")

_MOST = 1_000
T = TypeVar("T")

Semantic = Literal["execute_all", "deny_on_first_deny", "permit_on_first_permit"]
_STOPS_AT: dict[Semantic, bool | None] = {
    "execute_all": None,
    "deny_on_first_deny": False,
    "permit_on_first_permit": True,
}


class Evaluation(Entity):
    """May this subject do this with that resource?"""

    subject: Subject
    action: Action
    resource: Resource
    context: Context = Field(default_factory=dict)


class PartialEvaluation(Entity):
    """One of many: what is left out is taken from the request around it."""

    subject: Subject | None = None
    action: Action | None = None
    resource: Resource | None = None
    context: Context | None = None


class Options(Entity):
    """How many evaluations are gone through."""

    evaluations_semantic: Semantic = "execute_all"


class ManyEvaluations(PartialEvaluation):
    """Evaluations with their defaults; without any it is one evaluation."""

    evaluations: Annotated[list[PartialEvaluation], Field(max_length=_MOST)] = Field(
        default_factory=list, examples=[[{"resource": {"type": "lakehouse.table", "id": "orders"}}]]
    )
    options: Options = Field(default_factory=Options, examples=[{"evaluations_semantic": "execute_all"}])


class Decisions(Answer):
    """Decisions in the order of the evaluations; or, if there was only one question, its decision."""

    omits_null = True

    evaluations: list[Decision]


@routes.post("/evaluation", responses=problems(400))
def evaluate(ctx: Reading, body: Evaluation) -> Decision:
    """May they?

    A resource or subject that does not exist, or that the caller may not see, is `decision: false` with the reason in
    `context`. Asking about others needs the right `ask_about_others`.
    """
    return _single(ctx, body)


@routes.post("/evaluations", responses=problems(400))
def evaluate_many(ctx: Reading, body: ManyEvaluations) -> Decision | Decisions:
    """May they do each of these?

    `options.evaluations_semantic` says whether all are decided, or only up to the first denial or the first permit.
    """
    if not body.evaluations:
        return _single(ctx, _filled(body, body, ""))
    asked = [_filled(each, body, f"evaluations.{place}.") for place, each in enumerate(body.evaluations)]
    stop = _STOPS_AT[body.options.evaluations_semantic]
    decided: list[Decision] = []
    for each in asked:
        decided.append(decision(ctx, each.subject, each.action, each.resource, each.context))
        if decided[-1].decision is stop:
            break
    return Decisions(evaluations=decided)


def _single(ctx: RequestContext, asked: Evaluation) -> Decision:
    """What is unknown is denied; what cannot be asked, or not by this caller, is an error of the request."""
    try:
        return Decision(decision=decide(ctx, asked.subject, asked.action, asked.resource, asked.context))
    except NotFoundError:
        return decision(ctx, asked.subject, asked.action, asked.resource, asked.context)


def _filled(one: PartialEvaluation, defaults: PartialEvaluation, place: str) -> Evaluation:
    return Evaluation(
        subject=_given(one.subject, defaults.subject, f"{place}subject"),
        action=_given(one.action, defaults.action, f"{place}action"),
        resource=_given(one.resource, defaults.resource, f"{place}resource"),
        context=one.context if one.context is not None else defaults.context or {},
    )


def _given(own: T | None, default: T | None, place: str) -> T:
    found = default if own is None else own
    if found is None:
        raise InvalidInputError(f"{place} is missing.", "Give it there, or once for all at the top.")
    return found
