"""The REST endpoint of beds."""

from __future__ import annotations

from pydantic import Field

from lakehold.api.http.dependencies import ReadContext
from lakehold.api.http.models import IdText, ResponseModel
from lakehold.api.http.routing import make_router
from lakehold.catalog import resources
from tests.workspaces.fifth.settings import BED

routes = make_router("/api/v1/beds", "Beds")


class BedJson(ResponseModel):
    """A bed."""

    id: IdText
    litres: int = Field(examples=[12])


@routes.get("/{bed}")
def get_bed(ctx: ReadContext, bed: IdText) -> BedJson:
    """Get a bed."""
    found = resources.get(ctx, bed)
    return BedJson(id=found.uid, litres=BED.parse(found.settings or {}).litres)


ROUTERS = [routes]
