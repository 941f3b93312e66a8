"""Endpoints that check and explain access, and list who may do something and with which resources."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field, model_validator

from lakehold.access import Draft
from lakehold.access.decisions.evaluator import Explanation
from lakehold.access.decisions.ways import MissingFact
from lakehold.access.facts.descriptions import describe_fact
from lakehold.api.access.question_scope import NamedRefJson, NamedResourceJson, QuestionScope, need_others
from lakehold.api.access.what_if import FactJson
from lakehold.api.http.dependencies import ReadContext
from lakehold.api.http.models import IdText, ItemsResponse, RequestModel, ResponseModel, SearchText, Time, Word
from lakehold.api.http.paging import PageParams, PageResponse, Sort
from lakehold.api.http.routing import make_router
from lakehold.kit.errors import LakeholdError
from lakehold.kit.ids import fold_name

routes = make_router("/api/v1/access", "Access")

_MAX_QUESTIONS = 1_000
Ends = Annotated[list[IdText], Field(max_length=_MAX_QUESTIONS, examples=[["clean"]])]
Edges = Annotated[dict[Word, Ends], Field(max_length=50, examples=[{"layer": ["clean"]}])]
OptionalSubjectId = Annotated[IdText | None, Field(description="A member's id; default: the caller.", examples=["ana"])]


class ProposedResource(RequestModel):
    """A resource that does not exist yet, with its proposed edges and attributes."""

    kind: Annotated[Word, Field(examples=["lakehouse.table"])]
    edges: Edges = Field(default_factory=dict, examples=[{"layer": ["clean"]}])
    attributes: dict[Word, str | bool] = Field(default_factory=dict, max_length=50, examples=[{}])


class CheckQuestion(RequestModel):
    """A question whether a member may do something, with `resource` or, to create one, `new`."""

    subject: OptionalSubjectId = None
    action: Word
    resource: IdText | None = None
    new: ProposedResource | None = Field(default=None, examples=[None])
    role: Word | None = Field(default=None, examples=[None], description="The role, with `give` and `invite`.")
    edges: Edges | None = Field(default=None, examples=[None], description="May they, so that these edges point there?")

    @model_validator(mode="after")
    def _require_one_target(self) -> CheckQuestion:
        if (self.resource is None) == (self.new is None):
            raise ValueError("Name either a resource, or something new.")
        return self


class CheckBody(CheckQuestion):
    """A question, optionally as of another moment."""

    at: Time | None = Field(default=None, examples=[None], description="Evaluate at this moment instead of now.")


class CheckResultJson(ResponseModel):
    """Whether it is allowed."""

    allowed: bool


class BatchCheckItemJson(ResponseModel):
    """Whether it is allowed, or why the question has no answer."""

    allowed: bool
    error: str | None = Field(default=None, examples=[None], description="The code of the problem, if it is one.")
    detail: str | None = Field(default=None, examples=[None])


class BatchCheckBody(RequestModel):
    """Many questions, answered in their order as of one moment."""

    questions: Annotated[list[CheckQuestion], Field(min_length=1, max_length=_MAX_QUESTIONS)]
    at: Time | None = Field(default=None, examples=[None])


@routes.post("/check")
def check(ctx: ReadContext, body: CheckBody) -> CheckResultJson:
    """Check whether a member may do something.

    Asking about others needs the right `ask_about_others`.
    """
    return CheckResultJson(allowed=_decide(QuestionScope(ctx, body.at), body))


@routes.post("/check/many")
def check_many(ctx: ReadContext, body: BatchCheckBody) -> ItemsResponse[BatchCheckItemJson]:
    """Check many questions at once.

    A question that has no answer, because what it names does not exist or may not be seen, is answered with
    `allowed: false` and its error; the others are answered all the same.
    """
    scope = QuestionScope(ctx, body.at)
    return ItemsResponse[BatchCheckItemJson](items=[_batch_item(scope, question) for question in body.questions])


def _batch_item(scope: QuestionScope, question: CheckQuestion) -> BatchCheckItemJson:
    try:
        return BatchCheckItemJson(allowed=_decide(scope, question))
    except LakeholdError as error:
        return BatchCheckItemJson(allowed=False, error=error.code, detail=str(error))


def _decide(scope: QuestionScope, question: CheckQuestion) -> bool:
    principal = scope.resolve_subject(question.subject)
    new = question.new
    if new is not None:
        scope.require_visible(uid for ends in new.edges.values() for uid in ends)
        edges = {edge: ends[0] if len(ends) == 1 else ends for edge, ends in new.edges.items()}
        return scope.questions.check(
            principal, question.action, Draft(new.kind, edges, new.attributes), role=question.role
        )
    assert question.resource is not None  # noqa: S101 - one of the two is there
    scope.require_visible((question.resource,))
    if question.edges is not None:
        scope.require_visible(uid for ends in question.edges.values() for uid in ends)
    return scope.questions.check(
        principal, question.action, question.resource, role=question.role, edges=question.edges
    )


class ExplainBody(RequestModel):
    """A request to explain why a member may or may not do something."""

    subject: OptionalSubjectId = None
    action: Word
    resource: IdText
    at: Time | None = Field(default=None, examples=[None])


class ReasonJson(ResponseModel):
    """A part of a path, with whether it held, and by which facts."""

    text: str = Field(examples=["Editor on table orders"])
    held: bool
    facts: list[FactJson] = Field(examples=[[]])
    parts: list[ReasonJson] = Field(examples=[[]])


class PathJson(ResponseModel):
    """A rule of the model that could allow it."""

    rule: str = Field(examples=["editor"])
    place: str = Field(examples=["lakehouse/model.yaml:54"], description="The position of the rule in its model.")
    held: bool
    reason: ReasonJson


class NeededFactJson(ResponseModel):
    """A fact to add, and who may add it."""

    fact: FactJson
    text: str = Field(examples=["Editor on table orders for member Ana"])
    givers: list[NamedRefJson]
    more_givers: int


class WayJson(ResponseModel):
    """Facts that together would allow it."""

    needed: list[NeededFactJson]


class ExplanationJson(ResponseModel):
    """Why a member may or may not do something."""

    allowed: bool
    subject: IdText
    action: Word
    resource: IdText
    paths: list[PathJson] = Field(
        description="If allowed, every rule that held; else all rules that mention the action."
    )
    gates: list[PathJson] = Field(description="Conditions that every path must pass.")
    ways: list[WayJson] = Field(description="If denied, the facts that would have to be added, fewest first.")
    hidden_ways: bool = Field(description="Whether there are ways that would name what the caller may not see.")


@routes.post("/explain")
def explain(ctx: ReadContext, body: ExplainBody) -> ExplanationJson:
    """Explain why a member may or may not do something.

    What the caller may not see is never named.
    """
    scope = QuestionScope(ctx, body.at)
    principal = scope.resolve_subject(body.subject)
    scope.require_visible((body.resource,))
    found = scope.questions.explain(principal, body.action, body.resource, viewer=ctx.principal)
    return scope.questions.read_view(lambda _: _explanation_json(scope, found))


def _explanation_json(scope: QuestionScope, found: Explanation) -> ExplanationJson:
    return ExplanationJson(
        allowed=found.allowed,
        subject=found.member,
        action=found.action,
        resource=found.resource,
        paths=[PathJson.model_validate(path) for path in found.paths],
        gates=[PathJson.model_validate(path) for path in found.gates],
        ways=[WayJson(needed=[_needed_fact_json(scope, needed) for needed in way.needed]) for way in found.ways],
        hidden_ways=found.hidden_ways,
    )


def _needed_fact_json(scope: QuestionScope, needed: MissingFact) -> NeededFactJson:
    visible = [giver for giver in needed.givers if scope.is_visible(giver)]
    known = {
        "fact": needed.fact,
        "text": describe_fact(scope.questions.current_view(), needed.fact),
        "givers": [scope.named_ref(giver) for giver in visible],
        "more_givers": needed.more_givers if len(visible) == len(needed.givers) else 0,
    }
    return NeededFactJson.model_validate(known)


AsOf = Annotated[
    Time | None, Query(description="Evaluate at this moment instead of now.", examples=["2031-05-04T10:30:00Z"])
]


@routes.get("/who")
def who_may(
    ctx: ReadContext, paged: PageParams, action: Word, resource: IdText, at: AsOf = None
) -> PageResponse[NamedRefJson]:
    """List the members who may do this, by name.

    Needs the right `ask_about_others`.
    """
    need_others(ctx)
    scope = QuestionScope(ctx, at)
    scope.require_visible((resource,))
    known = [scope.named_ref(uid) for uid in scope.questions.who(action, resource) if scope.is_visible(uid)]
    list_name = f"who {action} {resource} {at}"
    behind = paged.start_key(list_name, str, str)
    left = known if behind is None else [member for member in known if _sort_key(member) > behind]
    return paged.build_page(list_name, left[: paged.limit + 1], _sort_key, lambda member: member)


def _sort_key(member: NamedRefJson) -> tuple[str, str]:
    return fold_name(member.name), member.id


SubjectParam = Annotated[
    IdText | None, Query(description="A member's id; default: the caller.", examples=["ana"], max_length=200)
]


class AllowedActionsJson(ResponseModel):
    """Allowed actions, in the order of the model."""

    resource: IdText
    actions: list[str] = Field(examples=[["see", "read", "edit"]])


@routes.get("/can/actions")
def actions_on(ctx: ReadContext, resource: IdText, subject: SubjectParam = None, at: AsOf = None) -> AllowedActionsJson:
    """List the actions that a member may perform on a resource."""
    scope = QuestionScope(ctx, at)
    principal = scope.resolve_subject(subject)
    scope.require_visible((resource,))
    return AllowedActionsJson(resource=resource, actions=list(scope.questions.actions(principal, resource)))


@routes.get("/can/resources")
def resources_for(
    ctx: ReadContext,
    paged: PageParams,
    action: Word,
    kind: Word,
    subject: SubjectParam = None,
    within: Annotated[IdText | None, Query(description="Only inside this container: a layer, a workspace.")] = None,
    search: Annotated[SearchText, Query(description="A part of the name, in any case.")] = "",
    sort: Annotated[Sort, Query()] = "name",
    at: AsOf = None,
) -> PageResponse[NamedResourceJson]:
    """List the resources of a kind with which a member may do this."""
    scope = QuestionScope(ctx, at)
    principal = scope.resolve_subject(subject)
    if within is not None:
        scope.require_visible((within,))
    found = scope.allowed_page(
        principal, action, kind, after=paged.after, limit=paged.limit, within=within, search=search, sort=sort
    )
    return PageResponse[NamedResourceJson].model_validate(found)
