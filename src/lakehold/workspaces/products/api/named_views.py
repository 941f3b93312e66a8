"""Endpoints of the named views of a data product."""

from typing import Annotated

from fastapi import Request
from pydantic import Field

from lakehold.api.catalog.schemas import RefJson
from lakehold.api.http.dependencies import CreateContext, ReadContext, WriteContext
from lakehold.api.http.models import IdText, ItemsResponse, NameText, PlainText, RecordTime, RequestModel, ResponseModel
from lakehold.api.http.models import RecordId as ViewRecordId
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.workspaces.products.api.schemas import PREFIX, AttributeText, ProductId, open_product
from lakehold.workspaces.products.curation import named_views
from lakehold.workspaces.products.curation.named_views import (
    MAX_FILTERS,
    MAX_VALUE,
    NamedView,
    ViewDefinition,
    ViewFilter,
    ViewOperator,
)

routes = make_router(PREFIX, "Data products")
ViewId = Annotated[IdText, Field(examples=["view_5f0c3f1de1a44d54"])]
_MAX_COLUMNS = 200


class ViewFilterJson(ResponseModel):
    """A condition on an attribute."""

    attribute: AttributeText
    operator: ViewOperator
    value: str = Field(examples=["DE"])


class ViewFilterBody(RequestModel):
    """A condition on an attribute."""

    attribute: AttributeText
    operator: ViewOperator
    value: Annotated[PlainText, Field(max_length=MAX_VALUE, examples=["DE"])] = ""


class NamedViewBody(RequestModel):
    """A view to save."""

    name: Annotated[NameText, Field(examples=["Customers in Germany"])]
    filters: list[ViewFilterBody] = Field(default_factory=list, max_length=MAX_FILTERS)
    columns: list[AttributeText] = Field(
        default_factory=list,
        max_length=_MAX_COLUMNS,
        description="Attributes, and `entity`, `records`, `flags`; all if it is empty.",
    )

    def definition(self) -> ViewDefinition:
        """Return the definition."""
        filters = tuple(ViewFilter(each.attribute, each.operator, each.value) for each in self.filters)
        return ViewDefinition(self.name, filters, tuple(self.columns))


class NamedViewJson(ResponseModel):
    """A view of a data product."""

    id: ViewRecordId = Field(examples=["view_5f0c3f1de1a44d54"])
    name: NameText
    filters: list[ViewFilterJson]
    columns: list[str] = Field(examples=[["entity", "email"]])
    by: RefJson | None = Field(description="Null if the caller may not see them.")
    at: RecordTime
    changed_by: RefJson | None
    changed_at: RecordTime


@routes.get("/{product}/views")
def list_product_views(request: Request, ctx: ReadContext, product: ProductId) -> ItemsResponse[NamedViewJson]:
    """List the named views of a data product, for all who see its entities."""
    found = named_views.list_views(open_product(request, ctx, product))
    return ItemsResponse[NamedViewJson](items=[_view_json(ctx, each) for each in found])


@routes.post("/{product}/views", status_code=201, responses=problem_responses(409))
def create_product_view(request: Request, ctx: CreateContext, product: ProductId, body: NamedViewBody) -> NamedViewJson:
    """Save a view under a name."""
    return _view_json(ctx, named_views.create(open_product(request, ctx, product), body.definition()))


@routes.put("/{product}/views/{view}", responses=problem_responses(409))
def change_product_view(
    request: Request, ctx: WriteContext, product: ProductId, view: ViewId, body: NamedViewBody
) -> NamedViewJson:
    """Replace the name, filters and columns of a view."""
    return _view_json(ctx, named_views.change(open_product(request, ctx, product), view, body.definition()))


@routes.delete("/{product}/views/{view}", status_code=204)
def delete_product_view(request: Request, ctx: WriteContext, product: ProductId, view: ViewId) -> None:
    """Delete a view, for those who may delete views."""
    named_views.delete(open_product(request, ctx, product), view)


def _view_json(ctx: RequestContext, found: NamedView) -> NamedViewJson:
    visible, said = VisibleRefs(ctx), found.definition
    people = {"by": visible.ref(found.by), "changed_by": visible.ref(found.changed_by)}
    times = {"at": found.at, "changed_at": found.changed_at}
    shape = {"name": said.name, "filters": list(said.filters), "columns": list(said.columns)}
    return NamedViewJson.model_validate({"id": found.uid, **shape, **people, **times})
