"""Endpoints of the sources of a products project: the profile of their columns."""

from typing import Any

from pydantic import Field

from lakehold.api.http.dependencies import ReadContext
from lakehold.api.http.models import IdText, ResponseModel
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.kit.errors import ConflictError
from lakehold.workspaces.graph import need_kind
from lakehold.workspaces.products import source_profiles
from lakehold.workspaces.products.settings import SOURCE_KIND

routes = make_router("/api/v1/product-sources", "Data products")


class SourceProfileJson(ResponseModel):
    """The profile of a source."""

    made_at: int = Field(examples=[1795133409660336], description="Microseconds since 1970.")
    rows: int = Field(examples=[1200])
    columns: list[dict[str, Any]] = Field(
        examples=[[{"name": "mail", "data_type": "string", "rows": 1200, "nulls": 3, "distinct": 1190}]],
        description="Counts, patterns, the type that a column looks like, and its values: examples, frequent ones, "
        "limits, histogram.",
    )


@routes.get("/{source}/profile", responses=problem_responses(409))
def get_source_profile(ctx: ReadContext, source: IdText) -> SourceProfileJson:
    """Get the profile of the columns of a source, as of its last refresh."""
    need_kind(ctx, source, "see", (SOURCE_KIND,))
    found = source_profiles.load(ctx, source)
    if found is None:
        raise ConflictError("The source has no profile yet.", "Refresh it first.")
    profile, made_at = found
    return SourceProfileJson.model_validate({"made_at": made_at, **profile.to_json()})
