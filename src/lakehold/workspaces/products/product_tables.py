"""The tables that runs of a data product make, as resources below it, and which right reads each."""

from enum import StrEnum

from lakehold.access import Draft
from lakehold.catalog import resource_metadata
from lakehold.directory.request_context import RequestContext
from lakehold.kit.ids import fold_name
from lakehold.workspaces.products.settings import ENTITY_TABLE_KIND, RECORD_TABLE_KIND


class ProductTable(StrEnum):
    """A table of a data product, by its name."""

    RECORDS = "records"
    """The records of all sources, standardised."""
    PAIRS = "pairs"
    """Pairs of records that may be the same, with their probability."""
    MEMBERS = "members"
    """Which entity a record belongs to."""
    ENTITIES = "entities"
    """The golden records."""
    CHANGES = "changes"
    """What each run changed of the entities."""

    @property
    def kind(self) -> str:
        """The kind of its resource, which says who reads it."""
        return ENTITY_TABLE_KIND if self in {ProductTable.ENTITIES, ProductTable.CHANGES} else RECORD_TABLE_KIND


def list_tables(ctx: RequestContext, product: str) -> dict[ProductTable, str]:
    """Return the ids of the tables that a data product has by now."""
    names = {each.value: each for each in ProductTable}
    found = ctx.session.read_view(
        lambda view: {
            fold_name(view.names.get(child) or ""): view.uid(child)
            for child in view.children(view.resource(product))
            if view.kind(child) in {RECORD_TABLE_KIND, ENTITY_TABLE_KIND}
        }
    )
    return {names[name]: uid for name, uid in found.items() if name in names}


def create_missing_tables(ctx: RequestContext, product: str) -> dict[ProductTable, str]:
    """Return the ids of all tables of a data product; those that are missing are created."""
    found = list_tables(ctx, product)
    for table in ProductTable:
        if table not in found:
            found[table] = ctx.create_unchecked(Draft(table.kind, {"product": product}), table.value)
            resource_metadata.create(ctx, found[table])
    return found
