"""Endpoints of the entities of a published version."""

from typing import Annotated, Any

from fastapi import Query
from pydantic import Field

from lakehold.api.http.dependencies import CurrentPlatform, ReadContext
from lakehold.api.http.models import IdText, ResponseModel
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.directory.request_context import RequestContext
from lakehold.workspaces.products import published_entities
from lakehold.workspaces.products.entity_index import MAX_HITS, MAX_OFFSET, MAX_QUERY, IndexedEntity
from lakehold.workspaces.products.published_entities import PublishedEntities

routes = make_router("/api/v1/data-products", "Data products")


class OriginJson(ResponseModel):
    """The source that a value is from."""

    source: str = Field(examples=["a0b5971d6bd58c02"], description="Its id; `override` for a value set by a curator.")
    name: str = Field(examples=["CRM"])


class EntityJson(ResponseModel):
    """An entity: its golden record, and where each value is from."""

    id: str = Field(examples=["e1f3a9c04b2d7e6f80a15"])
    values: dict[str, str] = Field(examples=[{"name": "Anna Müller"}])
    origins: dict[str, OriginJson]
    records: int = Field(examples=[3], description="How many source records it has.")
    flags: list[str] = Field(examples=[["split"]], description="What a curator should look at.")


class FoundEntityJson(EntityJson):
    """An entity that a search has found."""

    score: float = Field(examples=[12.5], description="How well it fits; only comparable within one search.")


class EntityPageJson(ResponseModel):
    """Some of the entities that were found, the best first."""

    version: int = Field(examples=[3])
    total: int = Field(examples=[1])
    items: list[FoundEntityJson]


class VersionedEntityJson(EntityJson):
    """An entity, and the version that it is of."""

    version: int = Field(examples=[3])


class EntityRecordJson(ResponseModel):
    """A source record of an entity."""

    id: str = Field(examples=["0f3a9c04b2d7e6f80a15f3a9c04b2d7e"])
    source: str = Field(examples=["a0b5971d6bd58c02"])
    source_name: str = Field(examples=["CRM"])
    key: str = Field(examples=["4711"], description="The values of its key columns at the source.")
    recency: str | None = Field(examples=["2026-11-01"])
    values: dict[str, str] = Field(examples=[{"name": "MÜLLER, Anna"}], description="As the source has them.")


class EntityRecordsJson(ResponseModel):
    """The source records of an entity."""

    items: list[EntityRecordJson]


@routes.get("/{product}/entities", responses=problem_responses(409))
def search_entities(
    ctx: ReadContext,
    platform: CurrentPlatform,
    product: IdText,
    q: Annotated[str, Query(max_length=MAX_QUERY, description="Words; typing errors are tolerated.")] = "",
    limit: Annotated[int, Query(ge=1, le=MAX_HITS)] = 20,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET)] = 0,
) -> EntityPageJson:
    """Search the entities of the published version. Without a word, any are listed."""
    published, found = published_entities.search(ctx, platform, product, q, limit=limit, offset=offset)
    items = [FoundEntityJson(**_entity_json(ctx, published, hit.found), score=hit.score) for hit in found.hits]
    return EntityPageJson(version=published.version.number, total=found.total, items=items)


@routes.get("/{product}/entities/{entity}", responses=problem_responses(409))
def get_entity(ctx: ReadContext, platform: CurrentPlatform, product: IdText, entity: IdText) -> VersionedEntityJson:
    """Get an entity. An id that was merged or split away is not found, and the error names its successors."""
    published, found = published_entities.get(ctx, platform, product, entity)
    return VersionedEntityJson(**_entity_json(ctx, published, found), version=published.version.number)


@routes.get("/{product}/entities/{entity}/records", responses=problem_responses(409))
def list_entity_records(
    ctx: ReadContext, platform: CurrentPlatform, product: IdText, entity: IdText
) -> EntityRecordsJson:
    """List the source records of an entity, for those who may see records."""
    found = published_entities.records(ctx, platform, product, entity)
    names = published_entities.source_names(ctx, [each.source for each in found])
    items = [
        EntityRecordJson(
            id=each.record,
            source=each.source,
            source_name=names[each.source],
            key=each.key,
            recency=each.recency,
            values=dict(each.values),
        )
        for each in found
    ]
    return EntityRecordsJson(items=items)


def _entity_json(ctx: RequestContext, published: PublishedEntities, found: IndexedEntity) -> dict[str, Any]:
    sources = published.origin_sources(found)
    names = published_entities.source_names(ctx, [*sources.values()])
    origins = {name: OriginJson(source=source, name=names[source]) for name, source in sources.items()}
    return {
        "id": found.entity,
        "values": found.values,
        "origins": origins,
        "records": found.records,
        "flags": found.flags,
    }
