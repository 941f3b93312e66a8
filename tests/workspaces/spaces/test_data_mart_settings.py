"""Settings of a data mart task: what they plan, and what they refuse with the setting named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from lakehold.kit.settings_schema import InvalidSettingError, SettingsSchema
from lakehold.workspaces.spaces.tasks.data_mart import (
    DataMartTaskSettings,
    StarDataset,
    planned_datasets,
)

SCHEMA = SettingsSchema[DataMartTaskSettings]("data mart task", DataMartTaskSettings)
D1, D2 = {"task": "t1", "dataset": "d1"}, {"task": "t1", "dataset": "d2"}
PRODUCT: Mapping[str, Any] = {
    "name": "product",
    "source": D1,
    "business_key": ["sku"],
    "history": 2,
}
DAY: Mapping[str, Any] = {
    "name": "day",
    "source": D2,
    "business_key": ["date"],
    "columns": [{"column": "week"}],
}
SALE: Mapping[str, Any] = {
    "name": "sale",
    "source": {"task": "t3", "dataset": "d3"},
    "keys": ["id"],
    "at": "sold",
    "measures": ["amount"],
    "links": [
        {"dimension": "product", "columns": ["sku"]},
        {"dimension": "day", "columns": ["sold"], "role": "ordered"},
        {"dimension": "day", "columns": ["sent"], "role": "shipped"},
    ],
}
VIEW: Mapping[str, Any] = {
    "name": "sales",
    "fact": "sale",
    "dimensions": [{"role": "product", "columns": ["title"]}, {"role": "shipped", "columns": ["week"]}],
}


def mart(**changes: object) -> dict[str, Any]:
    return {"type": "data_mart", "dimensions": [PRODUCT, DAY], "facts": [SALE], "views": [VIEW], **changes}


def test_a_mart_plans_its_datasets_and_what_they_read() -> None:
    found = SCHEMA.parse(mart())
    assert planned_datasets(found) == [
        StarDataset("product", "dimension"),
        StarDataset("day", "dimension"),
        StarDataset("sale", "fact"),
        StarDataset("sales", "view"),
    ]
    assert found.dataset_names() == ["product", "day", "sale", "sales"]
    assert [each.dataset for each in found.inputs()] == ["d1", "d2", "d3"]
    assert list(found.uses()) == [("dimensions", "t1", "reads"), ("facts", "t3", "reads")]
    assert [link.key_column for link in found.facts[0].links] == ["product_key", "ordered_key", "shipped_key"]
    assert found.facts[0].kept_columns == ("id", "sold", "sku", "sent", "amount")


@pytest.mark.parametrize(
    ("settings", "field", "said"),
    [
        ({"dimensions": [], "facts": [], "views": []}, "dimensions", "neither dimensions nor facts"),
        ({"views": [VIEW, {**VIEW, "fact": "x"}]}, "views.1.name", "called sales"),
        ({"facts": [{**SALE, "name": "product"}]}, "facts.0.name", "called product"),
        ({"dimensions": [{**PRODUCT, "name": "A B"}]}, "dimensions.0.name", "cannot be"),
        ({"dimensions": [{**PRODUCT, "history": 3}]}, "dimensions.0.history", "cannot be"),
        ({"dimensions": [{**PRODUCT, "business_key": []}]}, "dimensions.0.business_key", "no business key"),
        ({"dimensions": [{**PRODUCT, "business_key": ["a", "A"]}]}, "dimensions.0.business_key", "A is there"),
        ({"dimensions": [{**PRODUCT, "business_key": ["Product_Key"]}]}, "dimensions.0.business_key", "is there"),
        ({"dimensions": [{**PRODUCT, "business_key": ["valid_to"]}]}, "dimensions.0.business_key", "is there"),
        ({"dimensions": [{**PRODUCT, "at": "sku"}]}, "dimensions.0.at", "sku is there"),
        ({"dimensions": [{**PRODUCT, "columns": [{"column": "sku"}]}]}, "dimensions.0.columns.0.column", "sku"),
        (
            {"dimensions": [{**PRODUCT, "columns": [{"column": "a"}, {"column": "A"}]}]},
            "dimensions.0.columns.1.column",
            "A is there",
        ),
        (
            {"dimensions": [{**PRODUCT, "columns": [{"column": "title", "history": 1}]}]},
            "dimensions.0.columns",
            "makes a version",
        ),
        (
            {"dimensions": [PRODUCT, {**DAY, "columns": [{"column": "week", "history": 2}]}]},
            "dimensions.1.columns.0.history",
            "keeps no versions",
        ),
        ({"facts": [{**SALE, "keys": []}]}, "facts.0.keys", "no keys"),
        ({"facts": [{**SALE, "keys": ["id", "ID"]}]}, "facts.0.keys", "ID is there"),
        ({"facts": [{**SALE, "keys": ["shipped_key"]}]}, "facts.0.keys", "shipped_key is there"),
        ({"facts": [{**SALE, "measures": ["product_key"]}]}, "facts.0.measures", "product_key is there"),
        ({"facts": [{**SALE, "columns": ["Amount"]}]}, "facts.0.columns", "Amount is there"),
        ({"facts": [{**SALE, "at": ""}]}, "facts.0.at", "product has versions"),
        (
            {"facts": [{**SALE, "links": [{"dimension": "shop", "columns": ["nr"]}]}]},
            "facts.0.links.0.dimension",
            "shop, which does not exist",
        ),
        (
            {"facts": [{**SALE, "links": [{"dimension": "product", "columns": ["sku", "nr"]}]}]},
            "facts.0.links.0.columns",
            "The business key of product is sku",
        ),
        (
            {"facts": [{**SALE, "links": [{"dimension": "day", "columns": ["sold"]}] * 2}]},
            "facts.0.links.1.role",
            "called day",
        ),
        (
            {"facts": [{**SALE, "links": [{"dimension": "day", "columns": ["day_key"]}]}]},
            "facts.0.links.0.columns.0",
            "day_key is there",
        ),
        ({"views": [{**VIEW, "fact": "x"}]}, "views.0.fact", "x, which does not exist"),
        (
            {"views": [{**VIEW, "dimensions": [{"role": "day", "columns": ["week"]}]}]},
            "views.0.dimensions.0.role",
            "refers to no day",
        ),
        (
            {"views": [{**VIEW, "dimensions": [{"role": "shipped", "columns": ["date", "month"]}]}]},
            "views.0.dimensions.0.columns.1",
            "no column month",
        ),
        (
            {"views": [{**VIEW, "dimensions": [{"role": "shipped", "columns": ["week", "WEEK"]}]}]},
            "views.0.dimensions.0.columns.1",
            "are called shipped_week",
        ),
        (
            {"views": [{**VIEW, "dimensions": [{"role": "shipped", "columns": []}]}]},
            "views.0.dimensions.0.columns",
            "chooses no columns",
        ),
        ({"views": [{**VIEW, "as_of": "never"}]}, "views.0.as_of", "cannot be"),
        ({"colour": "red"}, "colour", "no setting"),
    ],
)
def test_what_cannot_be_loaded_is_refused_by_its_name(settings: Mapping[str, object], field: str, said: str) -> None:
    with pytest.raises(InvalidSettingError, match=said) as refused:
        SCHEMA.parse(mart(**settings))
    assert refused.value.field == field
    assert refused.value.hint
