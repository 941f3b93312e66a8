"""Suggests which column of a source has the values of an attribute, and attributes for the columns of a source."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lakehold.workspaces.products.attribute_types import AttributeType
from lakehold.workspaces.products.column_names import column_words, name_similarity, type_similarity
from lakehold.workspaces.products.profiles import ColumnProfile, SourceProfile
from lakehold.workspaces.products.settings import MAX_ATTRIBUTES, RESERVED_NAMES, ProductAttribute
from lakehold.workspaces.products.type_inference import SHAPES, is_compatible

_LEAST = 0.45
"""The least score of a suggestion."""
_BY_VALUES = 0.5
"""The score of a column whose values alone suggest the attribute."""
_OWN_NAME, _TYPE_NAME = 1.0, 0.9
"""How much the attribute's own name counts, and what columns of its type are called."""
_NO_VALUES = 0.7
"""How much the names count if the column has no values to look at."""
_LONGEST_NAME = 48
_COMPARED = frozenset(AttributeType) - {AttributeType.NUMBER, AttributeType.CATEGORY, AttributeType.TEXT}
"""The types of attributes that matching compares, unless somebody says otherwise."""


@dataclass(frozen=True, slots=True)
class MappingSuggestion:
    """A column that fits an attribute: how well, from 0 to 1, and why."""

    attribute: str
    column: str
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class AttributeSuggestion:
    """An attribute that a column of a source could become."""

    attribute: ProductAttribute
    column: str


def suggest_mapping(attributes: Sequence[ProductAttribute], profile: SourceProfile) -> tuple[MappingSuggestion, ...]:
    """Return at most one column for each attribute, and each column at most once, in the order of the attributes.

    The best pair is taken first, so that `mobile` goes to the attribute `mobile` although `phone` is a phone too.
    """
    pairs = [found for each in attributes for column in profile.columns if (found := _suggestion(each, column))]
    taken: dict[str, MappingSuggestion] = {}
    columns = set[str]()
    for pair in sorted(pairs, key=lambda each: -each.score):
        if pair.attribute not in taken and pair.column not in columns:
            taken[pair.attribute] = pair
            columns.add(pair.column)
    return tuple(taken[each.name] for each in attributes if each.name in taken)


def _suggestion(attribute: ProductAttribute, column: ColumnProfile) -> MappingSuggestion | None:
    words = column_words(column.name)
    own = max(name_similarity(words, column_words(name)) for name in (attribute.name, attribute.label))
    of_type = type_similarity(column.name, attribute.type)
    by_name = max(own * _OWN_NAME, of_type * _TYPE_NAME)
    values = column.value_type
    if not is_compatible(attribute.type, values):
        return None
    looks_alike = values is attribute.type and values in SHAPES
    score = by_name if values is not None else by_name * _NO_VALUES
    if looks_alike:
        # Half of what is missing, so that equal names remain in front.
        score = max(_BY_VALUES, (by_name + 1) / 2) if values is not AttributeType.NUMBER else by_name
    if score < _LEAST:
        return None
    reason = _reason(attribute, values, is_own=own * _OWN_NAME >= of_type * _TYPE_NAME, by_name=by_name)
    return MappingSuggestion(attribute.name, column.name, round(score, 3), reason)


def _reason(attribute: ProductAttribute, values: AttributeType | None, *, is_own: bool, by_name: float) -> str:
    parts = list[str]()
    if by_name >= _LEAST:
        parts.append("The names are alike." if is_own else f"Columns of the type {attribute.type} are called so.")
    if values is attribute.type and values in SHAPES:
        parts.append(f"Its values look like the type {values}.")
    elif values is None:
        parts.append("It has no values.")
    return " ".join(parts)


def suggest_attributes(profile: SourceProfile) -> tuple[AttributeSuggestion, ...]:
    """Return attributes for the columns of a source, as the schema of a data product."""
    names = set[str](RESERVED_NAMES)
    return tuple(_attributes(profile.columns[:MAX_ATTRIBUTES], names))


def _attributes(columns: Sequence[ColumnProfile], names: set[str]) -> Iterator[AttributeSuggestion]:
    for column in columns:
        words = column_words(column.name)
        name = _free_name("_".join(words), names)
        names.add(name)
        kind = column.attribute_type or AttributeType.TEXT
        # A key tells the rows of one source apart, and is another in the next.
        is_key = kind is AttributeType.IDENTIFIER and column.may_be_key
        attribute = ProductAttribute(
            name=name, type=kind, label=" ".join(words).capitalize(), matched=kind in _COMPARED and not is_key
        )
        yield AttributeSuggestion(attribute, column.name)


def _free_name(text: str, taken: set[str]) -> str:
    """Return a valid name of an attribute that is not taken."""
    plain = text[: _LONGEST_NAME - 4].strip("_") or "attribute"
    if not plain[0].isalpha():
        plain = f"a_{plain}"
    n, name = 1, plain
    while name in taken:
        n += 1
        name = f"{plain}_{n}"
    return name
