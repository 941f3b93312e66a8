"""Endpoints of acts of curation: edits of entities, overrides, verifications, comments; their history and undo."""

from typing import Annotated

from fastapi import Request
from pydantic import Field

from lakehold.api.http.dependencies import CreateContext, ReadContext, WriteContext
from lakehold.api.http.models import ItemsResponse, RequestModel
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.workspaces.products.api.schemas import (
    PREFIX,
    ActNumber,
    AttributeText,
    CurationActJson,
    EntityId,
    EntityIds,
    HistoryEntryJson,
    ProductId,
    RecordId,
    RecordIds,
    ValueText,
    act_json,
    history_json,
    open_product,
)
from lakehold.workspaces.products.curation import entity_edits, history, overrides, undo

routes = make_router(PREFIX, "Curation")
_CONFLICT = problem_responses(409)


class OverrideBody(RequestModel):
    """A value that a curator sets."""

    value: ValueText | None = Field(description="Null for no value.")


class MergeBody(RequestModel):
    """Entities to merge."""

    entities: EntityIds = Field(description="The first one goes on.")


class SplitBody(RequestModel):
    """Records to take out of an entity."""

    entity: EntityId
    records: RecordIds


class MoveBody(RequestModel):
    """A record, and the entity that it belongs to."""

    record: RecordId
    entity: EntityId


class NewEntityBody(RequestModel):
    """Records that are an entity of their own."""

    records: RecordIds


class CommentBody(RequestModel):
    """A comment."""

    text: Annotated[ValueText, Field(examples=["Called her: the new address is right."])]


class UndoBody(RequestModel):
    """Options of an undo."""

    with_later: bool = Field(default=False, description="Whether later acts that rest on it are undone too.")


@routes.put("/{product}/entities/{entity}/overrides/{attribute}")
def override_attribute(
    request: Request,
    ctx: WriteContext,
    product: ProductId,
    entity: EntityId,
    attribute: AttributeText,
    body: OverrideBody,
) -> CurationActJson:
    """Override an attribute of an entity: it has this value from the next run on, whatever its records say."""
    return act_json(ctx, overrides.override(open_product(request, ctx, product), entity, attribute, body.value))


@routes.delete("/{product}/entities/{entity}/overrides/{attribute}")
def clear_attribute_override(
    request: Request, ctx: WriteContext, product: ProductId, entity: EntityId, attribute: AttributeText
) -> CurationActJson:
    """Clear an override: the next run chooses the value from the records again."""
    return act_json(ctx, overrides.clear_override(open_product(request, ctx, product), entity, attribute))


@routes.post("/{product}/merges", status_code=201, responses=_CONFLICT)
def merge_entities(request: Request, ctx: CreateContext, product: ProductId, body: MergeBody) -> CurationActJson:
    """Merge entities into the first of them, from the next run on."""
    return act_json(ctx, entity_edits.merge(open_product(request, ctx, product), body.entities))


@routes.post("/{product}/splits", status_code=201, responses=_CONFLICT)
def split_entity(request: Request, ctx: CreateContext, product: ProductId, body: SplitBody) -> CurationActJson:
    """Take records out of an entity, from the next run on."""
    return act_json(ctx, entity_edits.split(open_product(request, ctx, product), body.entity, body.records))


@routes.post("/{product}/moves", status_code=201, responses=_CONFLICT)
def move_record(request: Request, ctx: CreateContext, product: ProductId, body: MoveBody) -> CurationActJson:
    """Move a record to another entity, from the next run on."""
    return act_json(ctx, entity_edits.move(open_product(request, ctx, product), body.record, body.entity))


@routes.post("/{product}/entities", status_code=201, responses=_CONFLICT)
def create_entity(request: Request, ctx: CreateContext, product: ProductId, body: NewEntityBody) -> CurationActJson:
    """Make an entity of its own from records. It has an ID after the next run."""
    return act_json(ctx, entity_edits.create_entity(open_product(request, ctx, product), body.records))


@routes.put("/{product}/entities/{entity}/verification")
def verify_entity(request: Request, ctx: WriteContext, product: ProductId, entity: EntityId) -> CurationActJson:
    """Verify an entity: the records that it has now stay together, and keep it."""
    return act_json(ctx, entity_edits.verify(open_product(request, ctx, product), entity=entity))


@routes.delete("/{product}/entities/{entity}/verification")
def unverify_entity(request: Request, ctx: WriteContext, product: ProductId, entity: EntityId) -> CurationActJson:
    """Take the verification of all records of an entity back."""
    return act_json(ctx, entity_edits.unverify(open_product(request, ctx, product), entity=entity))


@routes.put("/{product}/records/{record}/verification")
def verify_record(request: Request, ctx: WriteContext, product: ProductId, record: RecordId) -> CurationActJson:
    """Verify a record: it stays in its entity."""
    return act_json(ctx, entity_edits.verify(open_product(request, ctx, product), record=record))


@routes.delete("/{product}/records/{record}/verification")
def unverify_record(request: Request, ctx: WriteContext, product: ProductId, record: RecordId) -> CurationActJson:
    """Take the verification of a record back."""
    return act_json(ctx, entity_edits.unverify(open_product(request, ctx, product), record=record))


@routes.post("/{product}/entities/{entity}/comments", status_code=201, responses=_CONFLICT)
def comment_on_entity(
    request: Request, ctx: CreateContext, product: ProductId, entity: EntityId, body: CommentBody
) -> CurationActJson:
    """Comment on an entity. Those who may view records read it in its history."""
    return act_json(ctx, entity_edits.comment(open_product(request, ctx, product), entity, body.text))


@routes.get("/{product}/entities/{entity}/history")
def list_entity_history(
    request: Request, ctx: ReadContext, product: ProductId, entity: EntityId
) -> ItemsResponse[HistoryEntryJson]:
    """List the acts on an entity and its records, newest first.

    Records and comments are left out for those who may not view records.
    """
    found, visible = history.load_history(open_product(request, ctx, product), entity), VisibleRefs(ctx)
    return ItemsResponse[HistoryEntryJson](items=[history_json(visible, each) for each in found])


@routes.get("/{product}/acts")
def list_curation_acts(
    request: Request, ctx: ReadContext, paged: PageParams, product: ProductId
) -> PageResponse[HistoryEntryJson]:
    """List all acts of curation of a data product, newest first, for those who may view records."""
    name, visible = f"acts {product}", VisibleRefs(ctx)
    before = paged.start_after(name, int)
    found = history.load_acts(open_product(request, ctx, product), before, paged.limit + 1)
    return paged.build_page(name, found, lambda each: (each.act.number,), lambda each: history_json(visible, each))


@routes.post("/{product}/acts/{number}/undo", status_code=201, responses=_CONFLICT)
def undo_curation_act(
    request: Request, ctx: CreateContext, product: ProductId, number: ActNumber, body: UndoBody
) -> CurationActJson:
    """Undo an act. The answer is the undo, which is an act itself.

    If later acts rest on it, it is refused as `later_acts`, unless these are to be undone too.
    """
    return act_json(ctx, undo.undo(open_product(request, ctx, product), number, with_later=body.with_later))
