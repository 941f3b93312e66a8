"""AuthZEN evaluations: subjects, resources, actions and contexts, how they are resolved, and the decision.

What does not exist, or may not be seen by the caller, is denied with the reason in the decision's context. This is
also the one place where the properties of a request are passed to the engine.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from lakehold.access import RequestProperties
from lakehold.access.decisions.principal import Principal
from lakehold.access.model.errors import did_you_mean
from lakehold.access.model.policy import MEMBER
from lakehold.access.session import AccessQueries
from lakehold.api.access.question_scope import QuestionScope
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext
from lakehold.api.http.models import IdText, ResponseModel, Word
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ForbiddenError, InvalidInputError, LakeholdError, NotFoundError
from lakehold.kit.ids import quote

routes = make_router("/access/v1", "AuthZEN")
configuration_routes = make_router("/.well-known", "AuthZEN")

_SUBJECT_TYPES = ("member", MEMBER)
_MAX_EVALUATIONS = 1_000
_EXAMPLE_BASE = "http://127.0.0.1:8400"

Properties = Annotated[dict[str, object], Field(max_length=200, examples=[{"department": "Sales"}])]
Context = Annotated[dict[str, object], Field(max_length=200, examples=[{"hour": 14}])]
Semantic = Literal["execute_all", "deny_on_first_deny", "permit_on_first_permit"]
_STOPS_AT: dict[Semantic, bool | None] = {
    "execute_all": None,
    "deny_on_first_deny": False,
    "permit_on_first_permit": True,
}


class AuthzenEntity(BaseModel):
    """Base class of AuthZEN entities. Unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class AuthzenNode(AuthzenEntity):
    """Base class of subjects, resources and actions."""

    properties: Properties = Field(default_factory=dict)


class AuthzenSubject(AuthzenNode):
    """The subject of a question."""

    type: Word = Field(examples=["member"], description="`member`, or `tenant.member`.")
    id: IdText = Field(examples=["ana"])


class AuthzenSubjectType(AuthzenNode):
    """The type of subjects to search for. An id is ignored."""

    type: Word = Field(examples=["member"])


class AuthzenResource(AuthzenNode):
    """The resource of a question."""

    type: Word = Field(
        examples=["lakehouse.table"], description="A kind; its short name too, if only one model has it."
    )
    id: IdText = Field(examples=["orders"])


class AuthzenResourceType(AuthzenNode):
    """The type of resources to search for. An id is ignored."""

    type: Word = Field(examples=["lakehouse.table"])


class AuthzenAction(AuthzenNode):
    """The action of a question."""

    name: Word = Field(examples=["edit"])


class AuthzenDecision(ResponseModel):
    """Whether it is allowed."""

    omits_null = True

    decision: bool
    context: dict[str, object] | None = Field(
        default=None, examples=[None], description="The reason, if there is no decision."
    )


class SubjectResult(ResponseModel):
    """A subject that a search has found."""

    type: str = Field(default="member", examples=["member"])
    id: IdText = Field(examples=["ana"])


class ResourceResult(ResponseModel):
    """A resource that a search has found."""

    type: str = Field(examples=["lakehouse.table"])
    id: IdText


class ActionResult(ResponseModel):
    """An action that a search has found."""

    name: str = Field(examples=["edit"])


class Evaluation(AuthzenEntity):
    """A question whether a subject may perform an action on a resource."""

    subject: AuthzenSubject
    action: AuthzenAction
    resource: AuthzenResource
    context: Context = Field(default_factory=dict)


class PartialEvaluation(AuthzenEntity):
    """One of many evaluations. What is left out is taken from the request around it."""

    subject: AuthzenSubject | None = None
    action: AuthzenAction | None = None
    resource: AuthzenResource | None = None
    context: Context | None = None


class EvaluationOptions(AuthzenEntity):
    """Options that say which evaluations of a batch are processed."""

    evaluations_semantic: Semantic = "execute_all"


class EvaluationBatch(PartialEvaluation):
    """Evaluations with their defaults; without any, a single evaluation."""

    evaluations: Annotated[list[PartialEvaluation], Field(max_length=_MAX_EVALUATIONS)] = Field(
        default_factory=list, examples=[[{"resource": {"type": "lakehouse.table", "id": "orders"}}]]
    )
    options: EvaluationOptions = Field(
        default_factory=EvaluationOptions, examples=[{"evaluations_semantic": "execute_all"}]
    )


class DecisionList(ResponseModel):
    """Decisions in the order of the evaluations."""

    omits_null = True

    evaluations: list[AuthzenDecision]


class AuthzenConfiguration(ResponseModel):
    """The endpoint addresses of the decision point."""

    policy_decision_point: str = Field(examples=[_EXAMPLE_BASE])
    access_evaluation_endpoint: str = Field(examples=[f"{_EXAMPLE_BASE}/access/v1/evaluation"])
    access_evaluations_endpoint: str = Field(examples=[f"{_EXAMPLE_BASE}/access/v1/evaluations"])
    search_subject_endpoint: str = Field(examples=[f"{_EXAMPLE_BASE}/access/v1/search/subject"])
    search_resource_endpoint: str = Field(examples=[f"{_EXAMPLE_BASE}/access/v1/search/resource"])
    search_action_endpoint: str = Field(examples=[f"{_EXAMPLE_BASE}/access/v1/search/action"])


@routes.post("/evaluation", responses=problem_responses(400))
def evaluate(ctx: ReadContext, body: Evaluation) -> AuthzenDecision:
    """Evaluate one access question.

    A resource or subject that does not exist, or that the caller may not see, is `decision: false` with the reason in
    `context`. Asking about others needs the right `ask_about_others`.
    """
    return _decide(ctx, body, NotFoundError)


@routes.post("/evaluations", responses=problem_responses(400))
def evaluate_many(ctx: ReadContext, body: EvaluationBatch) -> AuthzenDecision | DecisionList:
    """Evaluate many access questions.

    `options.evaluations_semantic` says whether all are decided, or only up to the first denial or the first permit.
    """
    if not body.evaluations:
        return _decide(ctx, _with_defaults(body, body, ""), NotFoundError)
    questions = [_with_defaults(each, body, f"evaluations.{place}.") for place, each in enumerate(body.evaluations)]
    stop = _STOPS_AT[body.options.evaluations_semantic]
    decided: list[AuthzenDecision] = []
    for question in questions:
        decided.append(_decide(ctx, question, LakeholdError))
        if decided[-1].decision is stop:
            break
    return DecisionList(evaluations=decided)


@configuration_routes.get("/authzen-configuration")
def authzen_configuration(platform: CurrentPlatform) -> AuthzenConfiguration:
    """Get the endpoint addresses of the decision point."""
    base = platform.settings.base_url
    return AuthzenConfiguration(
        policy_decision_point=base,
        access_evaluation_endpoint=f"{base}/access/v1/evaluation",
        access_evaluations_endpoint=f"{base}/access/v1/evaluations",
        search_subject_endpoint=f"{base}/access/v1/search/subject",
        search_resource_endpoint=f"{base}/access/v1/search/resource",
        search_action_endpoint=f"{base}/access/v1/search/action",
    )


def _decide(ctx: RequestContext, question: Evaluation, denied: type[LakeholdError]) -> AuthzenDecision:
    """Return the decision. An error of the type `denied` is a denial with the reason; others are raised."""
    try:
        principal = resolve_asker(ctx, question.subject)
        uid = resolve_resource(ctx, question.resource)
        questions = with_properties(ctx, question.subject, question.resource, question.context)
        return AuthzenDecision(decision=questions.check(principal, question.action.name, uid))
    except denied as error:
        status = 400 if error.status == InvalidInputError.status else error.status
        return AuthzenDecision(
            decision=False,
            context={"reason": error.message, "error": {"status": status, "code": error.code, "message": str(error)}},
        )


def _with_defaults(one: PartialEvaluation, defaults: PartialEvaluation, place: str) -> Evaluation:
    found: dict[str, Any] = {}
    for name in Evaluation.model_fields:
        own = getattr(one, name)
        found[name] = getattr(defaults, name) if own is None else own
        if found[name] is None and name != "context":
            raise InvalidInputError(f"{place}{name} is missing.", "Set it there, or once as a default.")
    return Evaluation(**found | {"context": found["context"] or {}})


def with_properties(
    ctx: RequestContext, subject: AuthzenNode, resource: AuthzenNode, context: Context
) -> AccessQueries:
    """Return the engine's questions with the properties of a request."""
    given = RequestProperties(subject.properties, resource.properties, context)
    return ctx.session.with_properties(given) if subject.properties or resource.properties or context else ctx.session


def resolve_asker(ctx: RequestContext, subject: AuthzenSubject) -> Principal:
    """Return the member that the question is about. Asking about others needs a right; its lack is not audited here."""
    need_subject_type(subject.type)
    if subject.id != ctx.caller.member:
        need_others(ctx)
    return QuestionScope(ctx).resolve_subject(subject.id)


def need_others(ctx: RequestContext) -> None:
    """Raise unless the caller may ask about others."""
    if not ctx.session.check(ctx.principal, "ask_about_others", ctx.caller.tenant):
        raise ForbiddenError(
            "You may not check the access of others.", "Check your own access, or ask an admin for the right."
        )


def resolve_resource(ctx: RequestContext, resource: AuthzenResource) -> str:
    """Return the id of the resource if it exists, is of that kind, and is visible to the caller."""
    kind = resolve_kind(ctx, resource.type)
    QuestionScope(ctx).require_visible((resource.id,))
    view = ctx.view
    if view.kind(view.resource(resource.id)) != kind:
        raise NotFoundError(f"There is no {kind} {quote(resource.id)}.", "Check the ID.")
    return resource.id


def resolve_kind(ctx: RequestContext, name: str) -> str:
    """Return the kind of this name, or of this short name if only one model has it."""
    kinds = ctx.session.read_view(lambda view: view.policy.kinds)
    if name in kinds:
        return name
    short = [kind for kind in kinds if kind.rpartition(".")[2] == name]
    if len(short) == 1:
        return short[0]
    if short:
        raise InvalidInputError(f"Several models have a {quote(name)}.", f"Use one of: {', '.join(sorted(short))}.")
    raise InvalidInputError(f"There is no resource type {quote(name)}.", did_you_mean(name, kinds))


def need_subject_type(name: str) -> None:
    """Raise if this is not a type of subject."""
    if name not in _SUBJECT_TYPES:
        raise InvalidInputError(f"There is no subject type {quote(name)}.", "Use member.")
