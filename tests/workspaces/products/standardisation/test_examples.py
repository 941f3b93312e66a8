"""The examples of docs/reference/data-product-attributes.md are true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lakehold.workspaces.products.attribute_types import PARTS, AttributeType
from lakehold.workspaces.products.standardisation.standardiser import standardise

PAGE = Path(__file__).parents[4] / "docs" / "reference" / "data-product-attributes.md"
EXAMPLE = re.compile(r"^\| ([a-z ]+) \| `(.+?)` \| ?(\w*) \| (?:`(.+?)` )?\| ?(.*?) ?\|$", re.MULTILINE)
PART = re.compile(r"(\w+) `(.+?)`")
EXAMPLES = EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("kind", "raw", "country", "value", "parts"), EXAMPLES)
def test_an_example_is_true(kind: str, raw: str, country: str, value: str, parts: str) -> None:
    found = standardise(AttributeType(kind), raw, country)
    assert (found.value if found else "") == value
    expected = dict(PART.findall(parts))
    assert {name: found.parts.get(name) for name in expected} == expected if found else not expected


def test_every_type_has_examples_and_its_parts_are_described() -> None:
    assert {AttributeType(kind) for kind, *_ in EXAMPLES} == set(AttributeType)
    text = PAGE.read_text(encoding="utf-8")
    for kind, parts in PARTS.items():
        (line,) = re.findall(rf"^\| `{kind}` \| (`key`.*)$", text, re.MULTILINE)
        assert re.findall(r"`(\w+)`", line) == list(parts.parts)


def test_every_line_of_examples_was_read() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    assert len(EXAMPLES) == sum(each.startswith("| ") and each.count(" | ") >= 3 and "`" in each for each in lines)
