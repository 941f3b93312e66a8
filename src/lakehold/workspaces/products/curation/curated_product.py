"""A data product in the hands of a curator: rights, lookups with clear refusals, and how an act is saved."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lakehold.catalog import resource_metadata
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.workspaces.graph import need_kind
from lakehold.workspaces.products.curation import act_log, pair_queue
from lakehold.workspaces.products.curation.acts import ActContent, ActKind, CurationAct
from lakehold.workspaces.products.curation.entity_lookup import EntityLookup
from lakehold.workspaces.products.settings import PRODUCT, PRODUCT_KIND, ProductAttribute

MAX_RECORDS = 1_000
"""The most records that one act speaks of."""
MAX_TEXT = 4_000


@dataclass(frozen=True, slots=True)
class CuratedProduct:
    """A data product, the caller who curates it, and its entities."""

    ctx: RequestContext
    uid: str
    open_entities: Callable[[], EntityLookup]
    """Returns the entities of the last run. Called after the right was checked."""

    def need(self, action: str) -> None:
        """Refuse unless the caller may do this with the data product."""
        need_kind(self.ctx, self.uid, action, (PRODUCT_KIND,), refusal="The ID is that of a {}.")

    def need_act(self, kind: ActKind) -> EntityLookup:
        """Refuse unless the caller may make such an act; return the entities."""
        self.ctx.need_writable()
        self.need(kind.action)
        return self.open_entities()

    def attributes(self) -> Mapping[str, ProductAttribute]:
        """Return the attributes of its entities by name."""
        settings = resource_metadata.load(self.ctx, self.uid).settings
        if PRODUCT.is_draft(settings):
            return {}
        return {each.name: each for each in PRODUCT.parse(settings).attributes}

    def need_attribute(self, name: str, field: str = "attribute") -> ProductAttribute:
        """Return an attribute, or refuse if there is none of this name."""
        known = self.attributes()
        if name not in known:
            message = f"The data product has no attribute {quote(name)}."
            raise InvalidInputError(message, f"It has: {', '.join(known) or 'none'}.", field=field)
        return known[name]

    def save(self, content: ActContent, **noted: object) -> CurationAct:
        """Save an act, write it to the audit log, and update the queue of pairs."""
        if len(content.records) > MAX_RECORDS:
            message = f"The act concerns {len(content.records):,} records."
            raise InvalidInputError(message, f"Use {MAX_RECORDS:,} at most, in several acts.", field="records")
        act = act_log.append(self.ctx, self.uid, content)
        self.note(act, **noted)
        self.refresh_queue(content.records)
        return act

    def note(self, act: CurationAct, **noted: object) -> None:
        """Write an act to the audit log: what it concerns, but no value of a record."""
        about = {"act": act.number, "entities": list(act.content.entities), **noted}
        self.ctx.note(f"curate: {act.kind.value.replace('_', ' ')}", self.uid, after=about)

    def refresh_queue(self, records: Iterable[str]) -> None:
        """Let the queue of pairs follow acts that concern these records."""
        pair_queue.refresh(self.ctx, self.uid, tuple(records))


def need_members(entities: EntityLookup, entity: str, field: str = "entity") -> tuple[str, ...]:
    """Return the records of an entity, or refuse if there is no such entity now."""
    found = tuple(entities.members(entity))
    if found:
        return found
    if successors := entities.successors([entity]).get(entity):
        message = f"The entity {quote(entity)} is retired."
        raise ConflictError(message, f"Its records are in {', '.join(successors[:5])}.", field=field)
    raise NotFoundError(f"The data product has no entity {quote(entity)}.", "Search for it.", field=field)


def need_entities(entities: EntityLookup, records: Sequence[str], field: str = "records") -> Mapping[str, str]:
    """Return the entity of each record, or refuse a record that the data product does not have."""
    refuse_doubles(records, "record", field)
    found = entities.entities_of(records)
    if missing := next((each for each in records if each not in found), None):
        hint = "Records of other data products, and of deleted rows, cannot be used."
        raise NotFoundError(f"The data product has no record {quote(missing)}.", hint, field=field)
    return found


def refuse_doubles(values: Sequence[str], noun: str, field: str) -> None:
    """Refuse an empty list, one that is too long, and one that has something twice."""
    if not values:
        raise InvalidInputError(f"There is no {noun}.", f"Name at least one {noun}.", field=field)
    if len(values) > MAX_RECORDS:
        raise InvalidInputError(f"There are {len(values):,} of them.", f"Use {MAX_RECORDS:,} at most.", field=field)
    if twice := next((each for each in values if list(values).count(each) > 1), None):
        raise InvalidInputError(f"The {noun} {quote(twice)} appears twice.", "Name each once.", field=field)


def without(records: Iterable[str], taken: Iterable[str]) -> tuple[str, ...]:
    """Return the records that were not taken."""
    gone = set(taken)
    return tuple(each for each in records if each not in gone)
