"""Request and response models that several endpoints of data products share."""

from typing import Annotated

from fastapi import Request
from pydantic import Field

from lakehold.api.catalog.schemas import RefJson
from lakehold.api.http.models import IdText, PlainText, RecordTime, ResponseModel
from lakehold.api.iceberg_rest import get_lake
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.workspaces.products.curation.acts import ActKind, CurationAct
from lakehold.workspaces.products.curation.curated_product import MAX_RECORDS, MAX_TEXT, CuratedProduct
from lakehold.workspaces.products.curation.entity_lookup import open_entities
from lakehold.workspaces.products.curation.history import HistoryEntry

PREFIX = "/api/v1/data-products"
ProductId = Annotated[IdText, Field(examples=["customer"])]
EntityId = Annotated[IdText, Field(examples=["e5f0c3f1de1a44d54aa01"])]
RecordId = Annotated[IdText, Field(examples=["0f3a99c12b7de4800f3a99c12b7de480"])]
RecordIds = Annotated[list[RecordId], Field(max_length=MAX_RECORDS)]
EntityIds = Annotated[list[EntityId], Field(max_length=MAX_RECORDS)]
ActNumber = Annotated[int, Field(ge=1, le=2**53, examples=[12])]
AttributeText = Annotated[IdText, Field(examples=["email"])]
ValueText = Annotated[PlainText, Field(max_length=MAX_TEXT, examples=["ada@example.org"])]


def open_product(request: Request, ctx: RequestContext, product: str) -> CuratedProduct:
    """Return a data product with the entities of its last run."""
    return CuratedProduct(ctx, product, lambda: open_entities(ctx, get_lake(request), product))


class CurationActJson(ResponseModel):
    """An act of curation."""

    number: ActNumber
    act: ActKind
    entities: list[EntityId] = Field(description="Of a merge, the one that goes on comes first.")
    records: list[RecordId] = Field(description="Empty for those who may not view records.")
    attribute: str = Field(examples=["email"], description="Of an override; else empty.")
    value: str | None = Field(examples=["ada@example.org"], description="Of an override; null for no value.")
    replaced: str | None = Field(examples=["ada@example.com"], description="The value before an override.")
    text: str = Field(examples=["Called her."], description="Of a comment.")
    undone: list[ActNumber] = Field(examples=[[11]], description="The acts that an undo has undone.")
    by: RefJson | None = Field(description="Null if the caller may not see them.")
    at: RecordTime


class HistoryEntryJson(CurationActJson):
    """An act in a history."""

    undone_by: CurationActJson | None = Field(description="The undo; null while the act is in force.")


def act_json(ctx: RequestContext, act: CurationAct) -> CurationActJson:
    """Return the JSON of an act."""
    return CurationActJson.model_validate(_act_values(VisibleRefs(ctx), act))


def history_json(visible: VisibleRefs, entry: HistoryEntry) -> HistoryEntryJson:
    """Return the JSON of an act in a history."""
    undo = _act_values(visible, entry.undo) if entry.undo else None
    return HistoryEntryJson.model_validate({**_act_values(visible, entry.act), "undone_by": undo})


def _act_values(visible: VisibleRefs, act: CurationAct) -> dict[str, object]:
    said = act.content
    named = {name: getattr(said, name) for name in ("attribute", "value", "replaced", "text")}
    lists = {"entities": list(said.entities), "records": list(said.records), "undone": list(said.undone)}
    return {"number": act.number, "act": act.kind, **lists, **named, "by": visible.ref(act.by), "at": act.at}
