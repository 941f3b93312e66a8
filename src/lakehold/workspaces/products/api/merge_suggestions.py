"""Endpoints of suggested merges."""

from typing import Annotated

from fastapi import Request
from pydantic import Field

from lakehold.api.catalog.schemas import RefJson
from lakehold.api.http.dependencies import CreateContext, ReadContext, WriteContext
from lakehold.api.http.models import RecordEnd, RecordTime, RequestModel, ResponseModel
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.workspaces.products.api.schemas import PREFIX, EntityId, EntityIds, ProductId, ValueText, open_product
from lakehold.workspaces.products.curation import suggestions
from lakehold.workspaces.products.curation.suggestions import MergeSuggestion, SuggestionState

routes = make_router(PREFIX, "Curation")
SuggestionNumber = Annotated[int, Field(ge=1, le=2**53, examples=[3])]


class MergeSuggestionBody(RequestModel):
    """Entities that may be the same."""

    entities: EntityIds = Field(description="The first one goes on.")
    note: Annotated[ValueText, Field(examples=["She has moved."])] = ""


class RejectionBody(RequestModel):
    """Why a suggestion is rejected."""

    reason: Annotated[ValueText, Field(examples=["Mother and daughter."])] = ""


class MergeSuggestionJson(ResponseModel):
    """A suggested merge."""

    number: SuggestionNumber
    entities: list[EntityId]
    note: str = Field(examples=["She has moved."])
    state: SuggestionState
    by: RefJson | None = Field(description="Null if the caller may not see them.")
    at: RecordTime
    decided_by: RefJson | None
    decided_at: RecordEnd = Field(description="Null while it is open.")
    reason: str = Field(examples=[""], description="Why it is rejected.")
    act: int = Field(examples=[0], description="The merge, once it is accepted; else 0.")


@routes.post("/{product}/suggestions", status_code=201)
def suggest_merge(
    request: Request, ctx: CreateContext, product: ProductId, body: MergeSuggestionBody
) -> MergeSuggestionJson:
    """Suggest to merge entities. Curators decide."""
    return _answer(ctx, suggestions.suggest(open_product(request, ctx, product), body.entities, body.note))


@routes.get("/{product}/suggestions")
def list_merge_suggestions(
    request: Request, ctx: ReadContext, paged: PageParams, product: ProductId, state: SuggestionState | None = None
) -> PageResponse[MergeSuggestionJson]:
    """List suggested merges, newest first: all for those who curate, else one's own."""
    name, visible = f"suggestions {product} {state}", VisibleRefs(ctx)
    before = paged.start_after(name, int)
    found = suggestions.list_suggestions(open_product(request, ctx, product), state, before, paged.limit + 1)
    return paged.build_page(name, found, lambda each: (each.number,), lambda each: _suggestion_json(visible, each))


@routes.post("/{product}/suggestions/{number}/accept", responses=problem_responses(409))
def accept_merge_suggestion(
    request: Request, ctx: WriteContext, product: ProductId, number: SuggestionNumber
) -> MergeSuggestionJson:
    """Accept a suggestion: its entities are merged."""
    return _answer(ctx, suggestions.accept(open_product(request, ctx, product), number))


@routes.post("/{product}/suggestions/{number}/reject", responses=problem_responses(409))
def reject_merge_suggestion(
    request: Request, ctx: WriteContext, product: ProductId, number: SuggestionNumber, body: RejectionBody
) -> MergeSuggestionJson:
    """Reject a suggestion."""
    return _answer(ctx, suggestions.reject(open_product(request, ctx, product), number, body.reason))


def _answer(ctx: RequestContext, found: MergeSuggestion) -> MergeSuggestionJson:
    return _suggestion_json(VisibleRefs(ctx), found)


def _suggestion_json(visible: VisibleRefs, found: MergeSuggestion) -> MergeSuggestionJson:
    values = {name: getattr(found, name) for name in MergeSuggestionJson.model_fields}
    people = {name: visible.ref(values[name]) for name in ("by", "decided_by")}
    return MergeSuggestionJson.model_validate({**values, **people})
