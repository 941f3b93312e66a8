"""The type of a column is inferred from its name and from what its values look like."""

from __future__ import annotations

import re

import pytest

from lakehold.workspaces.products.attribute_types import AttributeType
from lakehold.workspaces.products.profiles import ColumnProfile
from lakehold.workspaces.products.type_inference import SHAPES, infer_type


def inferred(name: str, values: list[str], data_type: str = "string") -> AttributeType | None:
    shapes = {kind: sum(bool(re.search(pattern, each)) for each in values) for kind, pattern in SHAPES.items()}
    profile = ColumnProfile(name=name, data_type=data_type, rows=len(values), distinct=len(set(values)))
    return infer_type(profile, shapes).attribute_type


@pytest.mark.parametrize(
    ("name", "values", "found"),
    [
        ("x", ["a@b.de", "c@d.com", "e.f@g.org", "h@i.de", "none"], AttributeType.EMAIL),
        ("x", ["a@b.de", "none", "no", "-", "?"], AttributeType.TEXT),
        ("x", ["1980-03-12", "12.3.1980", "3/12/80"], AttributeType.DATE),
        ("x", ["0221 / 123456", "+49 221 123456", "(555) 010-9999"], AttributeType.PHONE),
        ("x", ["12", "-1.5", "1,234.50", "1e5"], AttributeType.NUMBER),
        ("x", ["red", "blue"] * 20, AttributeType.CATEGORY),
        ("x", ["one thing", "another"], AttributeType.TEXT),
        ("x", [], None),
        # The name says which code it is.
        ("plz", ["50667", "01067"], AttributeType.POSTCODE),
        ("customer_no", ["17", "18"], AttributeType.IDENTIFIER),
        ("Vorname", ["Ada", "Bob"], AttributeType.GIVEN_NAME),
        ("company", ["Acme Ltd", "Fiat S.p.A."], AttributeType.COMPANY_NAME),
        ("country", ["DE", "FR"] * 20, AttributeType.COUNTRY),
        ("mobile", ["491711234567", "491711234568"], AttributeType.PHONE),
        # Values speak against the name.
        ("email", ["0221 / 123456", "+49 221 123456"], AttributeType.PHONE),
        ("Ort", ["1980-03-12", "1980-03-13"], AttributeType.DATE),
        ("birthday", ["soon", "later"], AttributeType.TEXT),
    ],
)
def test_a_type_is_inferred(name: str, values: list[str], found: AttributeType | None) -> None:
    assert inferred(name, values) is found


@pytest.mark.parametrize(
    ("name", "data_type", "found"),
    [
        ("x", "date", AttributeType.DATE),
        ("x", "timestamp_ntz", AttributeType.DATE),
        ("x", "decimal(10,2)", AttributeType.NUMBER),
        ("x", "boolean", AttributeType.CATEGORY),
        ("plz", "int", AttributeType.POSTCODE),
        ("email", "bigint", AttributeType.NUMBER),
    ],
)
def test_a_data_type_says_it(name: str, data_type: str, found: AttributeType) -> None:
    assert inferred(name, ["1", "2"], data_type) is found
