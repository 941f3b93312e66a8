"""Values that curators set: they hold in every later run, whatever the records say, until they are cleared."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation

from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import quote
from lakehold.workspaces.products.attribute_types import AttributeType
from lakehold.workspaces.products.curation import act_log
from lakehold.workspaces.products.curation.acts import ActContent, ActKind, CurationAct
from lakehold.workspaces.products.curation.constraints import current_overrides
from lakehold.workspaces.products.curation.curated_product import MAX_TEXT, CuratedProduct, need_members
from lakehold.workspaces.products.curation.entity_lookup import EntityLookup, load_successors
from lakehold.workspaces.products.settings import ProductAttribute

Standardise = Callable[[ProductAttribute, str], str | None]
"""Returns a value as records of the attribute have it; None if it is no value of its type."""


def plain_value(attribute: ProductAttribute, value: str) -> str | None:
    """Return a value without space around it; None for a number or date that is none."""
    found = " ".join(value.split())
    try:
        if attribute.type is AttributeType.NUMBER:
            number = Decimal(found)
            return f"{number.normalize():f}" if number.is_finite() and abs(number.adjusted()) < _MAX_DIGITS else None
        if attribute.type is AttributeType.DATE:
            return date.fromisoformat(found).isoformat()
    except (InvalidOperation, ValueError):
        return None
    return found or None


_MAX_DIGITS = 100


def override(
    product: CuratedProduct, entity: str, attribute: str, value: str | None, standardise: Standardise = plain_value
) -> CurationAct:
    """Set an attribute of an entity; None for no value. Return the act, or the one that says the same already."""
    lookup = product.need_act(ActKind.OVERRIDE)
    need_members(lookup, entity)
    described = product.need_attribute(attribute)
    standard = None if value is None else _standardised(described, value, standardise)
    acts = _acts_on(product, attribute)
    last = next((act for act in reversed(acts) if act.content.entities == (entity,)), None)
    if last and last.kind is ActKind.OVERRIDE and last.content.value == standard:
        return last
    replaced = _in_force(lookup, acts, entity).get(attribute, lookup.values(entity).get(attribute))
    content = ActContent(ActKind.OVERRIDE, (entity,), attribute=attribute, value=standard, replaced=replaced)
    return product.save(content, attribute=attribute)


def clear_override(product: CuratedProduct, entity: str, attribute: str) -> CurationAct:
    """Clear an override: the next run chooses the value from the records again."""
    lookup = product.need_act(ActKind.CLEAR_OVERRIDE)
    need_members(lookup, entity)
    found = _in_force(lookup, _acts_on(product, attribute), entity)
    if attribute not in found:
        message = f"The attribute {quote(attribute)} of the entity has no override."
        raise ConflictError(message, "Read the history of the entity for its overrides.", field="attribute")
    content = ActContent(ActKind.CLEAR_OVERRIDE, (entity,), attribute=attribute, replaced=found[attribute])
    return product.save(content, attribute=attribute)


def _acts_on(product: CuratedProduct, attribute: str) -> list[CurationAct]:
    """Return the overrides of an attribute in force, also of entities that have become others since."""
    found = act_log.load_in_force(product.ctx, product.uid, (ActKind.OVERRIDE, ActKind.CLEAR_OVERRIDE))
    return [act for act in found if act.content.attribute == attribute]


def _in_force(lookup: EntityLookup, acts: Sequence[CurationAct], entity: str) -> Mapping[str, str | None]:
    successors = load_successors(lookup, {act.content.entities[0] for act in acts})
    return current_overrides(acts, successors).get(entity, {})


def _standardised(attribute: ProductAttribute, value: str, standardise: Standardise) -> str:
    if len(value) > MAX_TEXT:
        message = f"The value has {len(value):,} characters."
        raise InvalidInputError(message, f"Use {MAX_TEXT:,} at most.", field="value")
    found = standardise(attribute, value)
    if not found:
        message = f"{quote(value)} is no value of {attribute.name}, which is of the type {attribute.type}."
        raise InvalidInputError(message, "Write another one, or send null for no value.", field="value")
    return found
