"""Which records an entity has, which entity a record belongs to, and what a retired entity has become.

Curators act on the entities of the last run. `TableEntities` reads them from its tables without Spark.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import fold_name
from lakehold.lake.iceberg_catalog import IcebergCatalog, TableIdentifier
from lakehold.workspaces.products.settings import ENTITY_TABLE_KIND, RECORD_TABLE_KIND

if TYPE_CHECKING:
    from pyiceberg.expressions import BooleanExpression

_NAMES = ("members", "entities", "changes")


class EntityLookup(Protocol):
    """The entities of one state of a data product."""

    def members(self, entity: str) -> Sequence[str]:
        """Return the records of an entity in their order; none if it does not exist (any more)."""

    def entities_of(self, records: Iterable[str]) -> Mapping[str, str]:
        """Return the entity of each record, leaving out records that do not exist."""

    def successors(self, entities: Iterable[str]) -> Mapping[str, Sequence[str]]:
        """Return the entities that have the records of each retired one, in the order that the run gives."""

    def values(self, entity: str) -> Mapping[str, str | None]:
        """Return the attributes of an entity; none if it does not exist."""


@dataclass(frozen=True, slots=True)
class TableEntities:
    """The entities in the tables of a data product, as of their present snapshots."""

    members_location: str
    """The metadata file of the table, as of the others."""
    entities_location: str
    changes_location: str = ""
    """Empty as long as no run has changed anything."""

    def members(self, entity: str) -> Sequence[str]:
        """Return the records of an entity in their order."""
        return sorted(row["record"] for row in _scan(self.members_location, ("record",), entity=[entity]))

    def entities_of(self, records: Iterable[str]) -> Mapping[str, str]:
        """Return the entity of each record."""
        found = _scan(self.members_location, ("record", "entity"), record=list(records))
        return {row["record"]: row["entity"] for row in found}

    def successors(self, entities: Iterable[str]) -> Mapping[str, Sequence[str]]:
        """Return the successors of retired entities. One that is among its own successors is not retired."""
        if not self.changes_location:
            return {}
        rows = _scan(self.changes_location, ("entity", "successors"), entity=list(entities))
        return {
            row["entity"]: followed for row in rows if (followed := row["successors"]) and row["entity"] not in followed
        }

    def values(self, entity: str) -> Mapping[str, str | None]:
        """Return the attributes of an entity."""
        return next(iter(_scan(self.entities_location, ("*",), entity=[entity])), {})


def load_successors(lookup: EntityLookup, entities: Iterable[str]) -> dict[str, Sequence[str]]:
    """Return the successors of retired entities, and those of the successors, for `constraints`."""
    found: dict[str, Sequence[str]] = {}
    asked, following = set[str](), set(entities)
    while following := following - asked:
        asked |= following
        some = lookup.successors(sorted(following))
        found.update(some)
        following = {each for ids in some.values() for each in ids}
    return found


def open_entities(ctx: RequestContext, lake: IcebergCatalog, product: str) -> TableEntities:
    """Return the entities of the last run of a data product, or refuse if it was not run yet."""
    found = ctx.session.read_view(
        lambda view: {
            fold_name(view.names.get(child) or ""): TableIdentifier(ctx.session.tenant, child)
            for child in view.children(view.resource(product))
            if view.kind(child) in {RECORD_TABLE_KIND, ENTITY_TABLE_KIND}
        }
    )
    there = lake.metadata_locations(found[name] for name in _NAMES if name in found)
    locations = {name: there.get(found[name], "") if name in found else "" for name in _NAMES}
    if not locations["members"] or not locations["entities"]:
        raise ConflictError("The data product has no entities yet.", "Run it first.")
    return TableEntities(locations["members"], locations["entities"], locations["changes"])


def _scan(location: str, fields: tuple[str, ...], **where: list[str]) -> list[dict[str, Any]]:
    """Return the rows in which a column has one of some values."""
    from pyiceberg.expressions import In  # noqa: PLC0415 - a second, of which a server's start needs nothing
    from pyiceberg.table import StaticTable  # noqa: PLC0415 - as above

    ((column, values),) = where.items()
    if not values:
        return []
    # Its type checker takes the arguments of the model for those of its constructor.
    condition: BooleanExpression = In(column, tuple(values))  # type: ignore[call-arg, arg-type]
    scan = StaticTable.from_metadata(location).scan(row_filter=condition, selected_fields=fields)
    rows: list[dict[str, Any]] = scan.to_arrow().to_pylist()
    return rows
