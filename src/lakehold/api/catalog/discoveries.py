"""What can be found by name, although the caller may not see it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field

from lakehold.api.catalog import shown
from lakehold.api.catalog.shown import KindName, RefJson
from lakehold.api.frame.models import Answer, IdText, NameText, Search
from lakehold.api.frame.paging import Page, Paged
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Reading
from lakehold.catalog import discovery

routes = router("/api/v1/discover", "Discovery")


class DiscoveredJson(Answer):
    """What may be known of a resource that may not be seen."""

    id: IdText
    kind: KindName
    name: NameText
    description: str = Field(examples=["What everybody earns."])
    workspace: RefJson | None = Field(description="Null if the caller may not see it.")


@routes.get("", openapi_extra={"x-tells-what-is": "discoverable"})
def discover(
    ctx: Reading,
    paged: Paged,
    search: Annotated[Search, Query(description="A part of the name.")] = "",
    kind: Annotated[KindName | None, Query(description="Of this kind.")] = None,
) -> Page[DiscoveredJson]:
    """Resources that the caller may not see and may ask for.

    Only those whose keepers have made them discoverable, and of these only name, description and kind.
    """
    found = discovery.find(ctx, search, kind=kind, after=paged.after, limit=paged.limit)
    return Page(
        items=[
            DiscoveredJson(
                id=item.uid,
                kind=item.kind,
                name=item.name,
                description=item.description,
                workspace=shown.maybe(item.workspace),
            )
            for item in found.items
        ],
        next=found.after,
    )
