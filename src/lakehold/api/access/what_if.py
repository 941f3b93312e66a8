"""Endpoints of what-if, which tell the effect of changes without making them; and facts as JSON."""

from dataclasses import asdict
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from lakehold.access import Add, Adopt, Attribute, Edge, Grant, Remove
from lakehold.access.decisions.what_if import AccessEffects
from lakehold.access.facts.records import Change, Fact, mentioned_ids
from lakehold.api.access.question_scope import QuestionScope, need_others
from lakehold.api.http.dependencies import ReadContext
from lakehold.api.http.models import IdText, RequestModel, ResponseModel, Word
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import make_router
from lakehold.directory.request_context import RequestContext

_MAX_MODEL_LENGTH = 500_000

ModelSource = Annotated[
    str, Field(min_length=1, max_length=_MAX_MODEL_LENGTH, examples=["model: library\ntitle: Library\nkinds: {}\n"])
]
ValueText = Annotated[str, Field(max_length=1_000, examples=["true"])]


class GrantFact(RequestModel):
    """A member or group holds a role on a resource."""

    fact: Literal["grant"]
    subject: IdText
    role: Word
    resource: IdText


class AttributeFact(RequestModel):
    """A resource has an attribute value, or with `member` a membership has one."""

    fact: Literal["attribute"]
    resource: IdText
    name: Word
    value: ValueText
    member: IdText | None = None


class EdgeFact(RequestModel):
    """One resource points at another."""

    fact: Literal["edge"]
    name: Word
    source: IdText
    target: IdText


def _read_fact(given: object) -> object:
    return {"fact": type(given).__name__.lower(), **asdict(given)} if isinstance(given, Fact) else given


FactJson = Annotated[GrantFact | AttributeFact | EdgeFact, Field(discriminator="fact"), BeforeValidator(_read_fact)]
"""A fact in a request, or in a response that is read from a fact of the engine."""


class FactChange(RequestModel):
    """A fact to add or remove."""

    change: Literal["add", "remove"]
    fact: FactJson


class ModelChange(RequestModel):
    """A model to adopt, new or in place of the one of the same name."""

    change: Literal["adopt"]
    source: ModelSource


ChangeJson = Annotated[FactChange | ModelChange, Field(discriminator="change")]


def parse_fact(given: FactJson) -> Fact:
    """Convert JSON to a fact."""
    kinds: dict[str, type[Fact]] = {"grant": Grant, "attribute": Attribute, "edge": Edge}
    return kinds[given.fact](**given.model_dump(exclude={"fact"}))


routes = make_router("/api/v1/access/what-if", "Access")

_MAX_CHANGES = 200


class WhatIfBody(RequestModel):
    """Changes to try together, in order."""

    changes: Annotated[list[ChangeJson], Field(min_length=1, max_length=_MAX_CHANGES)]


class EffectGroupJson(ResponseModel):
    """The gains or losses of one action on one kind."""

    kind: str = Field(examples=["lakehouse.table"])
    action: Word
    gained: bool
    members: int = Field(description="Number of members who gain or lose it on at least one resource.")
    resources: int = Field(description="Number of resources.")
    pairs: int = Field(description="Number of pairs of a member and a resource.")


class EffectGroupsJson(ResponseModel):
    """The effects of the changes, counted."""

    groups: list[EffectGroupJson]


class EffectRowJson(ResponseModel):
    """A member gains or loses an action on a resource."""

    member: IdText
    action: Word
    resource: IdText
    gained: bool


@routes.post("")
def what_if(ctx: ReadContext, body: WhatIfBody) -> EffectGroupsJson:
    """Count the effects of changes.

    By kind and action, of resources that the caller may see. Needs the right `ask_about_others`.
    """
    return EffectGroupsJson.model_validate(_compute_effects(ctx, body))


@routes.post("/rows")
def what_if_rows(ctx: ReadContext, paged: PageParams, body: WhatIfBody) -> PageResponse[EffectRowJson]:
    """List the effects of changes, one page at a time.

    Each row is a member who would gain or lose an action on a resource.
    """
    list_name = f"what-if {ctx.session.seq} {body.model_dump_json()}"
    return paged.slice_page(list_name, _compute_effects(ctx, body).rows(), EffectRowJson.model_validate)


def _compute_effects(ctx: RequestContext, body: WhatIfBody) -> AccessEffects:
    """Compute the effects of changes, as far as the caller may see them."""
    need_others(ctx)
    scope = QuestionScope(ctx)
    changes: list[Change] = []
    for given in body.changes:
        if isinstance(given, ModelChange):
            ctx.need("manage_models", ctx.caller.tenant)
            changes.append(Adopt(given.source))
        else:
            fact = parse_fact(given.fact)
            scope.require_visible(mentioned_ids(fact))
            changes.append(Add(fact) if given.change == "add" else Remove(fact))
    return ctx.session.what_if(changes).restrict(scope.is_visible)
