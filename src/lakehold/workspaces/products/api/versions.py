"""Endpoints of the versions of a data product."""

from pydantic import Field

from lakehold.api.http.dependencies import CreateContext, ReadContext
from lakehold.api.http.models import IdText, ResponseModel
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.api.runs import RunJson
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.workspaces.graph import need_kind
from lakehold.workspaces.products import publication, versions
from lakehold.workspaces.products.settings import PRODUCT_KIND

routes = make_router("/api/v1/data-products", "Data products")


class ProductVersionJson(ResponseModel):
    """A version of a data product."""

    number: int = Field(examples=[3])
    run: str = Field(examples=["run_3a4f23a49b7ee4ab"])
    made_at: int = Field(examples=[1795133409660336], description="Microseconds since 1970.")
    counts: dict[str, int] = Field(
        examples=[{"records": 1200, "entities": 800, "new": 12, "changed": 3}],
        description="Its records and entities, and how many entities differ from the version before.",
    )
    published_at: int | None = Field(examples=[1795133409660336])
    published_by: str | None = Field(examples=["m_3f2a"], description="Null if it is not published, or hidden.")


class ProductVersionsJson(ResponseModel):
    """The versions of a data product, newest first."""

    items: list[ProductVersionJson]


@routes.get("/{product}/versions")
def list_versions(ctx: ReadContext, product: IdText) -> ProductVersionsJson:
    """List the newest versions of a data product, for those who may open it."""
    need_kind(ctx, product, "open", (PRODUCT_KIND,))
    visible = VisibleRefs(ctx)
    items = [
        ProductVersionJson(
            number=each.number,
            run=each.run,
            made_at=each.made_at,
            counts=dict(each.counts),
            published_at=each.published_at or None,
            published_by=each.published_by if visible.sees(each.published_by) else None,
        )
        for each in versions.list_versions(ctx, product)
    ]
    return ProductVersionsJson(items=items)


@routes.post("/{product}/publish", status_code=202, responses=problem_responses(409))
def publish_version(ctx: CreateContext, product: IdText) -> RunJson:
    """Start the run that publishes the newest version, and sends it to the destinations of the data product."""
    return RunJson.model_validate(publication.start(ctx, product))
