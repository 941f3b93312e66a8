"""Endpoints of the queue of uncertain pairs."""

from typing import Annotated, Literal

from fastapi import Query, Request
from pydantic import Field

from lakehold.api.catalog.schemas import RefJson
from lakehold.api.http.dependencies import CreateContext, ReadContext, WriteContext
from lakehold.api.http.models import IdText, ItemsResponse, RequestModel, ResponseModel
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import make_router
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.workspaces.products.api.schemas import (
    PREFIX,
    CurationActJson,
    EntityId,
    ProductId,
    RecordId,
    act_json,
    open_product,
)
from lakehold.workspaces.products.curation import pair_answers, pair_queue
from lakehold.workspaces.products.curation.acts import ActKind
from lakehold.workspaces.products.curation.pair_answers import MAX_ASSIGNED
from lakehold.workspaces.products.curation.pair_queue import PairState, QueuedPair

routes = make_router(PREFIX, "Curation")
MemberId = Annotated[IdText, Field(examples=["carla"])]


class QueuedPairJson(ResponseModel):
    """An uncertain pair."""

    rank: int = Field(examples=[1], description="Its place in the queue.")
    record_a: RecordId
    record_b: RecordId
    entity_a: EntityId
    entity_b: EntityId
    probability: float = Field(examples=[0.62])
    value: float = Field(examples=[3.8], description="The value of an answer, by which the queue is sorted.")
    size: int = Field(examples=[4], description="How many records the two entities have together.")
    state: PairState
    act: int = Field(examples=[0], description="The act that decided it; 0 while it is open.")
    assigned_to: RefJson | None = Field(description="Null if it is nobody's, or the caller may not see them.")


class QueueProgressJson(ResponseModel):
    """The progress of a queue."""

    total: int = Field(examples=[120])
    answered: int = Field(examples=[40])
    same: int = Field(examples=[25])
    different: int = Field(examples=[15])
    skipped: int = Field(examples=[5])
    open: int = Field(examples=[75])
    assigned: int = Field(examples=[20], description="Open ones that are somebody's.")
    mine: int = Field(examples=[10], description="Open ones that are the caller's.")


class AnswerBody(RequestModel):
    """Two records, and whether they are the same."""

    record_a: RecordId
    record_b: RecordId
    answer: Literal["same", "different", "skip"]


class AssignmentBody(RequestModel):
    """A number of the next open pairs, and the member to assign them to."""

    count: Annotated[int, Field(ge=1, le=MAX_ASSIGNED, examples=[20])]
    member: MemberId | None = Field(default=None, description="By default the caller.")


class ReleasedPairsJson(ResponseModel):
    """The number of pairs that are nobody's again."""

    released: int = Field(examples=[12])


@routes.get("/{product}/queue")
def list_queue(
    request: Request,
    ctx: ReadContext,
    paged: PageParams,
    product: ProductId,
    assigned_to: Annotated[
        IdText | None,
        Query(description="Pairs of this member; `nobody` for free ones.", examples=["carla"]),
    ] = None,
    state: PairState = PairState.OPEN,
) -> PageResponse[QueuedPairJson]:
    """List the uncertain pairs of a data product, the one whose answer is worth most first."""
    open_product(request, ctx, product).need("curate")
    name = f"queue {product} {assigned_to} {state}"
    found = pair_queue.next_pairs(
        ctx,
        product,
        paged.limit + 1,
        assigned_to="" if assigned_to == "nobody" else assigned_to,
        state=state,
        after=paged.start_after(name, int) or 0,
    )
    visible = VisibleRefs(ctx)
    return paged.build_page(name, found, lambda each: (each.rank,), lambda each: _pair_json(visible, each))


@routes.get("/{product}/queue/progress")
def get_queue_progress(request: Request, ctx: ReadContext, product: ProductId) -> QueueProgressJson:
    """Get how much of the queue is done."""
    open_product(request, ctx, product).need("view_insights")
    return QueueProgressJson.model_validate(pair_queue.count_progress(ctx, product))


@routes.post("/{product}/queue/assignments", status_code=201)
def assign_queue(
    request: Request, ctx: CreateContext, product: ProductId, body: AssignmentBody
) -> ItemsResponse[QueuedPairJson]:
    """Assign the next open pairs that are nobody's to the caller, or to another member who may curate."""
    member = body.member or ctx.caller.member
    found = pair_answers.assign(open_product(request, ctx, product), member, body.count)
    return _pairs_json(ctx, found)


@routes.delete("/{product}/queue/assignments/{member}")
def release_queue(request: Request, ctx: WriteContext, product: ProductId, member: MemberId) -> ReleasedPairsJson:
    """Take the open pairs of a member back, so that they are nobody's."""
    return ReleasedPairsJson(released=pair_answers.release(open_product(request, ctx, product), member))


@routes.post("/{product}/answers", status_code=201)
def answer_pair(request: Request, ctx: CreateContext, product: ProductId, body: AnswerBody) -> CurationActJson:
    """Answer whether two records are the same, from the next run on. Skipping takes them off the queue only."""
    given = (body.record_a, body.record_b, ActKind(body.answer))
    return act_json(ctx, pair_answers.answer(open_product(request, ctx, product), *given))


def _pairs_json(ctx: RequestContext, pairs: list[QueuedPair]) -> ItemsResponse[QueuedPairJson]:
    visible = VisibleRefs(ctx)
    return ItemsResponse[QueuedPairJson](items=[_pair_json(visible, each) for each in pairs])


def _pair_json(visible: VisibleRefs, pair: QueuedPair) -> QueuedPairJson:
    names = [name for name in QueuedPairJson.model_fields if name != "assigned_to"]
    values = {name: getattr(pair, name) for name in names}
    return QueuedPairJson.model_validate({**values, "assigned_to": visible.ref(pair.assigned_to)})
