"""Entities of a published version, for those who may view 360 pages, and the records behind them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.lake.readable_tables import refuse_impersonation
from lakehold.workspaces.graph import need_kind
from lakehold.workspaces.products import versions
from lakehold.workspaces.products.entities.successors import find_successors
from lakehold.workspaces.products.entity_index import (
    EntityIndex,
    IndexedEntity,
    IndexedRecord,
    SearchPage,
    open_index,
    version_folder,
)
from lakehold.workspaces.products.settings import PRODUCT_KIND
from lakehold.workspaces.products.versions import ProductVersion

VIEW_360, VIEW_RECORDS = "view_360", "view_records"
OVERRIDE = "override"
"""What stands for a source where a curator has set a value."""


class NotPublishedError(ConflictError):
    """A data product of which no version is published yet."""

    code = "not_published"


@dataclass(frozen=True, slots=True)
class PublishedEntities:
    """The entities of the published version of a data product."""

    product: str
    version: ProductVersion
    index: EntityIndex

    def need(self, entity: str) -> IndexedEntity:
        """Return an entity, or refuse if the version has none of this id; a retired id names its successors."""
        found = self.index.get(entity)
        if found is not None:
            return found
        successors = find_successors(entity, self._load_successors)
        if successors is None:
            hint = "Search for it: its id may have been mistyped."
            raise NotFoundError(f"There is no entity {quote(entity)}.", hint)
        if not successors:
            raise NotFoundError(f"The entity {quote(entity)} is gone: its records are.", "Search for another.")
        hint = f"Its records are in {', '.join(successors)} now."
        raise NotFoundError(f"The entity {quote(entity)} was merged or split.", hint, code="entity_retired")

    def origin_sources(self, entity: IndexedEntity) -> dict[str, str]:
        """Return the source that each value is from, by attribute; `override` for a value that a curator has set."""
        found = {record: self.index.find_record(record) for record in {*entity.origins.values()}}
        return {
            name: record.source if (record := found[origin]) else OVERRIDE for name, origin in entity.origins.items()
        }

    def _load_successors(self, entities: Collection[str]) -> dict[str, Sequence[str]]:
        found = {each: self.index.successors_of(each) for each in entities}
        return {each: successors for each, successors in found.items() if successors is not None}


def open_published(ctx: RequestContext, platform: Platform, product: str) -> PublishedEntities:
    """Return the entities of the published version, for those who may view them; refused while there is none."""
    need_kind(ctx, product, VIEW_360, (PRODUCT_KIND,))
    refuse_impersonation(ctx)
    found = find_published(ctx, platform, product)
    if found is None:
        raise NotPublishedError("The data product is not published yet.", "Run it, then publish it.")
    return found


def find_published(ctx: RequestContext, platform: Platform, product: str) -> PublishedEntities | None:
    """Return the entities of the published version, without a check of rights; None while there is none."""
    version = versions.find_published(ctx, product)
    if version is None:
        return None
    data, number = platform.settings.data, ctx.view.resource(product)
    index = open_index(version_folder(data, ctx.session.tenant, number, version.number))
    return PublishedEntities(product, version, index) if index else None


def search(
    ctx: RequestContext, platform: Platform, product: str, text: str, *, limit: int, offset: int = 0
) -> tuple[PublishedEntities, SearchPage]:
    """Return the entities that have the words of a text, and the version that they are of."""
    published = open_published(ctx, platform, product)
    found = published.index.search(text, limit, offset)
    platform.record_read(ctx.caller, "search", product)
    return published, found


def get(ctx: RequestContext, platform: Platform, product: str, entity: str) -> tuple[PublishedEntities, IndexedEntity]:
    """Return one entity, and the version that it is of."""
    published = open_published(ctx, platform, product)
    found = published.need(entity)
    platform.record_read(ctx.caller, "view entity", product, entity=entity)
    return published, found


def records(ctx: RequestContext, platform: Platform, product: str, entity: str) -> list[IndexedRecord]:
    """Return the source records of an entity, for those who may see records."""
    published = open_published(ctx, platform, product)
    ctx.need(VIEW_RECORDS, product)
    published.need(entity)
    platform.record_read(ctx.caller, "view records", product, entity=entity)
    return published.index.records_of(entity)


def source_names(ctx: RequestContext, sources: Sequence[str]) -> Mapping[str, str]:
    """Return the names of sources, which everyone reads who sees where a value is from; gone ones are called so."""
    names = {OVERRIDE: "Curated"}
    for uid in dict.fromkeys(sources):
        number = ctx.view.ids.get(uid)
        names.setdefault(uid, (ctx.view.names.get(number) or uid) if number is not None else "A source that is gone")
    return names


def sees_records(ctx: RequestContext, product: str) -> bool:
    """Return whether the caller may see the records of a data product."""
    return VisibleRefs(ctx).sees(product) and ctx.session.check(ctx.principal, VIEW_RECORDS, product)
