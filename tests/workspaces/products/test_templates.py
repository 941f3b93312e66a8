"""Every template is a data product that could be saved."""

from __future__ import annotations

import pytest

from lakehold.workspaces.products.attribute_types import AttributeType
from lakehold.workspaces.products.column_names import synonyms
from lakehold.workspaces.products.settings import PRODUCT, DataProductSettings
from lakehold.workspaces.products.templates import load_templates


def test_there_are_four_templates() -> None:
    assert list(load_templates()) == ["person", "company", "product", "location"]


@pytest.mark.parametrize("name", load_templates())
def test_a_template_is_valid(name: str) -> None:
    template = load_templates()[name]
    assert isinstance(template.settings, DataProductSettings)
    assert template.settings.template == name
    assert template.label
    assert template.description.endswith(".")
    assert all(each.label for each in template.settings.attributes)
    assert any(each.matched for each in template.settings.attributes)
    stored = {
        "template": name,
        "attributes": [{"name": each.name, "type": each.type.value} for each in template.settings.attributes],
    }
    assert not PRODUCT.problems(stored)


def test_columns_of_every_type_have_names() -> None:
    assert set(synonyms()) == set(AttributeType)
