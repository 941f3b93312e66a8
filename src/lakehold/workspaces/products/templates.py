"""Templates of data products, read from `product_templates.yaml`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from lakehold.workspaces.products.settings import PRODUCT, DataProductSettings


@dataclass(frozen=True, slots=True)
class ProductTemplate:
    """A template: what a data product of this kind begins with."""

    name: str
    label: str
    description: str
    settings: DataProductSettings


@cache
def load_templates() -> Mapping[str, ProductTemplate]:
    """Return the templates by name. Their settings are validated as those of any data product."""
    text = Path(__file__).with_name("product_templates.yaml").read_text(encoding="utf-8")
    return {name: _template(name, stored) for name, stored in yaml.safe_load(text).items()}


def _template(name: str, stored: Mapping[str, Any]) -> ProductTemplate:
    settings = PRODUCT.parse({"template": name, "attributes": stored["attributes"]})
    return ProductTemplate(name, stored["label"], stored["description"], settings)
