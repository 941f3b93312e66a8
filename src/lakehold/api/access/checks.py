"""May they? One question, or many at once."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from lakehold.access import Draft
from lakehold.api.access.asking import Asking
from lakehold.api.frame.models import Answer, Body, IdText, Time, Word
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Reading
from lakehold.kit.errors import LakeholdError

routes = router("/api/v1/access/check", "Access")

_MOST = 1_000
Ends = Annotated[list[IdText], Field(max_length=_MOST, examples=[["clean"]])]
Edges = Annotated[dict[Word, Ends], Field(max_length=50, examples=[{"layer": ["clean"]}])]
Subject = Annotated[IdText | None, Field(description="A member's id; without one the caller.", examples=["ana"])]


class NewResource(Body):
    """A resource that is not there yet, with what is proposed for it."""

    kind: Annotated[Word, Field(examples=["lakehouse.table"])]
    edges: Edges = Field(default_factory=dict, examples=[{"layer": ["clean"]}])
    attributes: dict[Word, str | bool] = Field(default_factory=dict, max_length=50, examples=[{}])


class Question(Body):
    """May this member do this with that? Either `resource` or, to create one, `new`."""

    subject: Subject = None
    action: Word
    resource: IdText | None = None
    new: NewResource | None = Field(default=None, examples=[None])
    role: Word | None = Field(default=None, examples=[None], description="With `give` and `invite`: which role.")
    edges: Edges | None = Field(default=None, examples=[None], description="May they, so that these edges point there?")

    @model_validator(mode="after")
    def _one_thing(self) -> Question:
        if (self.resource is None) == (self.new is None):
            raise ValueError("Name either a resource, or something new.")
        return self


class QuestionAt(Question):
    """The same at another moment."""

    at: Time | None = Field(default=None, examples=[None], description="Ask as of this moment instead of now.")


class Allowed(Answer):
    """Yes or no."""

    allowed: bool


class Allowance(Answer):
    """Yes or no, and why there is no proper answer if there is none."""

    allowed: bool
    error: str | None = Field(default=None, examples=[None], description="The code of the problem, if it is one.")
    detail: str | None = Field(default=None, examples=[None])


class Questions(Body):
    """Many questions, answered in their order at one moment."""

    questions: Annotated[list[Question], Field(min_length=1, max_length=_MOST)]
    at: Time | None = Field(default=None, examples=[None])


class Allowances(Answer):
    """The answers, in the order of the questions."""

    items: list[Allowance]


@routes.post("")
def check(ctx: Reading, body: QuestionAt) -> Allowed:
    """May they do this?

    Asking about others needs the right `ask_about_others`.
    """
    return Allowed(allowed=_answer(Asking(ctx, body.at), body))


@routes.post("/many")
def check_many(ctx: Reading, body: Questions) -> Allowances:
    """May they do each of these?

    A question that has no answer, because what it names does not exist or may not be seen, is answered with
    `allowed: false` and its error; the others are answered all the same.
    """
    asking = Asking(ctx, body.at)
    return Allowances(items=[_allowance(asking, question) for question in body.questions])


def _allowance(asking: Asking, question: Question) -> Allowance:
    try:
        return Allowance(allowed=_answer(asking, question))
    except LakeholdError as error:
        return Allowance(allowed=False, error=error.code, detail=str(error))


def _answer(asking: Asking, question: Question) -> bool:
    asker = asking.subject(question.subject)
    if question.new is not None:
        new = question.new
        asking.see(uid for ends in new.edges.values() for uid in ends)
        edges = {edge: ends[0] if len(ends) == 1 else ends for edge, ends in new.edges.items()}
        return asking.at.check(asker, question.action, Draft(new.kind, edges, new.attributes), role=question.role)
    assert question.resource is not None  # noqa: S101 - one of the two is there
    asking.see((question.resource,))
    if question.edges is not None:
        asking.see(uid for ends in question.edges.values() for uid in ends)
    return asking.at.check(asker, question.action, question.resource, role=question.role, edges=question.edges)
