"""Infers the attribute type of a column from its values and its name."""

from collections.abc import Mapping
from dataclasses import replace

from lakehold.workspaces.products.attribute_types import AttributeType
from lakehold.workspaces.products.column_names import type_by_name
from lakehold.workspaces.products.profiles import ColumnProfile

SHAPES: Mapping[AttributeType, str] = {
    AttributeType.EMAIL: r"^[^\s@]+@[^\s@]+\.[^\s@.]+$",
    AttributeType.DATE: (
        r"^([0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([T ].*)?"
        r"|[0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{4}|[0-9]{2}))$"
    ),
    AttributeType.PHONE: r"^(\+|00|\(|0)[0-9 ()/.-]{5,22}[0-9]$",
    AttributeType.NUMBER: r"^[+-]?[0-9][0-9.,']*([eE][+-]?[0-9]+)?$",
}
"""Regular expressions of values that can be told by their shape, the more special ones first."""
_CLEAR = 0.8
"""The share of values that have to look like a type."""
_MOST_CATEGORIES = 50
_REPEATED = 0.2
"""A column whose share of distinct values is below this repeats them."""
_DATES = ("date", "timestamp")
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_WRITTEN_IN_DIGITS = frozenset({
    *(AttributeType.PHONE, AttributeType.POSTCODE, AttributeType.IDENTIFIER, AttributeType.NUMBER),
    *(AttributeType.CATEGORY, AttributeType.DATE),
})  # fmt: skip
"""Types whose values may look like numbers."""
_VAGUE = frozenset({AttributeType.TEXT, AttributeType.CATEGORY, AttributeType.IDENTIFIER})
"""Types that values of many others look like."""


def infer_type(column: ColumnProfile, shapes: Mapping[AttributeType, int]) -> ColumnProfile:
    """Return the profile with the types that the values suggest; `shapes` counts those that look like each."""
    value_type = _value_type(column, shapes)
    by_name, _ = type_by_name(column.name)
    suits = by_name is not None and is_compatible(by_name, value_type)
    return replace(column, value_type=value_type, attribute_type=by_name if suits else value_type)


def is_compatible(attribute_type: AttributeType, value_type: AttributeType | None) -> bool:
    """Return whether values that look like `value_type` may be of another type."""
    if value_type is None or attribute_type is value_type:
        return True
    if value_type is AttributeType.NUMBER:
        return attribute_type in _WRITTEN_IN_DIGITS
    if value_type in _VAGUE:
        return attribute_type not in SHAPES or attribute_type is AttributeType.PHONE
    if value_type is AttributeType.PHONE:
        # A phone number is digits and signs, like other codes.
        return attribute_type not in SHAPES
    return attribute_type in {AttributeType.TEXT, AttributeType.IDENTIFIER}


def _value_type(column: ColumnProfile, shapes: Mapping[AttributeType, int]) -> AttributeType | None:
    if not column.filled:
        return None
    if column.data_type.startswith(_DATES):
        return AttributeType.DATE
    if column.data_type == "boolean":
        return AttributeType.CATEGORY
    if not column.data_type.startswith(_NUMBERS):
        shape = next((kind for kind in SHAPES if shapes.get(kind, 0) >= _CLEAR * column.filled), None)
        if shape not in {None, AttributeType.NUMBER}:
            return shape
        if shape is None:
            is_category = column.distinct <= _MOST_CATEGORIES and column.uniqueness < _REPEATED
            return AttributeType.CATEGORY if is_category else AttributeType.TEXT
    return AttributeType.NUMBER
