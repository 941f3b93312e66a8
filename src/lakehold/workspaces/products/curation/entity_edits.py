"""Edits of entities: merge, split, move, new entity; verification of records and entities; comments.

An edit takes effect with the next run. Until then the entities are as the last run made them, and edits speak of these.
"""

from collections.abc import Sequence

from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import quote
from lakehold.workspaces.products.curation.acts import ActContent, ActKind, CurationAct
from lakehold.workspaces.products.curation.curated_product import (
    MAX_TEXT,
    CuratedProduct,
    need_entities,
    need_members,
    refuse_doubles,
    without,
)

MAX_MERGED = 20
"""The most entities that one act merges."""


def merge(product: CuratedProduct, entities: Sequence[str]) -> CurationAct:
    """Merge entities into the first of them."""
    lookup = product.need_act(ActKind.MERGE)
    need_several(entities)
    groups = tuple(need_members(lookup, each, "entities") for each in entities)
    return product.save(ActContent(ActKind.MERGE, tuple(entities), groups))


def need_several(entities: Sequence[str]) -> None:
    """Refuse less than two entities, too many, and one that is named twice."""
    refuse_doubles(entities, "entity", "entities")
    if not 1 < len(entities) <= MAX_MERGED:
        message = f"{len(entities)} entities cannot be merged at once."
        raise InvalidInputError(message, f"Name two to {MAX_MERGED}.", field="entities")


def split(product: CuratedProduct, entity: str, records: Sequence[str]) -> CurationAct:
    """Take records out of an entity. What becomes of them is decided by the next run, apart from those that stay."""
    lookup = product.need_act(ActKind.SPLIT)
    members = need_members(lookup, entity)
    for record, holder in need_entities(lookup, records).items():
        if holder != entity:
            message = f"The record {quote(record)} is not in this entity."
            raise ConflictError(message, f"It is in {holder}.", field="records")
    stays = without(members, records)
    if not stays:
        message = "All records of the entity would be taken out."
        raise InvalidInputError(message, "Leave at least one in it.", field="records")
    return product.save(ActContent(ActKind.SPLIT, (entity,), (tuple(records), stays)))


def move(product: CuratedProduct, record: str, entity: str) -> CurationAct:
    """Move a record to another entity."""
    lookup = product.need_act(ActKind.MOVE)
    left = need_entities(lookup, [record], "record")[record]
    joined = need_members(lookup, entity)
    if left == entity:
        message = f"The record is in {quote(entity)} already."
        raise ConflictError(message, "Choose another entity.", field="entity")
    stays = without(lookup.members(left), [record])
    return product.save(ActContent(ActKind.MOVE, (left, entity), ((record,), stays, joined)))


def create_entity(product: CuratedProduct, records: Sequence[str]) -> CurationAct:
    """Make an entity of its own from records of one or several entities."""
    lookup = product.need_act(ActKind.NEW_ENTITY)
    sources = tuple(dict.fromkeys(need_entities(lookup, records).values()))
    rests = tuple(without(lookup.members(each), records) for each in sources)
    if len(sources) == 1 and not rests[0]:
        message = "These are all records of one entity already."
        raise ConflictError(message, "Choose some of them, or records of several entities.", field="records")
    if not any(rests):
        message = "These are all records of several entities."
        raise ConflictError(message, "Merge the entities instead.", field="records")
    return product.save(ActContent(ActKind.NEW_ENTITY, sources, (tuple(records), *filter(None, rests))))


def verify(product: CuratedProduct, *, entity: str = "", record: str = "") -> CurationAct:
    """Verify a record, or an entity with the records that it has now: they stay together, and keep the entity."""
    return _verify(product, ActKind.VERIFY, entity, record)


def unverify(product: CuratedProduct, *, entity: str = "", record: str = "") -> CurationAct:
    """Take a verification back, of a record or of all records that an entity has now."""
    return _verify(product, ActKind.UNVERIFY, entity, record)


def _verify(product: CuratedProduct, kind: ActKind, entity: str, record: str) -> CurationAct:
    lookup = product.need_act(kind)
    if record:
        holder = need_entities(lookup, [record], "record")[record]
        return product.save(ActContent(kind, (holder,), ((record,),)))
    return product.save(ActContent(kind, (entity,), (need_members(lookup, entity),)))


def comment(product: CuratedProduct, entity: str, text: str) -> CurationAct:
    """Comment on an entity."""
    lookup = product.need_act(ActKind.COMMENT)
    need_members(lookup, entity)
    return product.save(ActContent(ActKind.COMMENT, (entity,), text=need_text(text, "text")))


def need_text(text: str, field: str, *, optional: bool = False) -> str:
    """Return a text without space around it, or refuse one that is empty or too long."""
    found = text.strip()
    if not found and not optional:
        raise InvalidInputError("The text is empty.", "Write at least one word.", field=field)
    if len(found) > MAX_TEXT:
        raise InvalidInputError(f"The text has {len(found):,} characters.", f"Use {MAX_TEXT:,} at most.", field=field)
    return found
