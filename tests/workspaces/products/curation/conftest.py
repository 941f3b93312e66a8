"""The data product Customers for each test, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lakehold.directory.platform import Platform
from tests.workspaces.products.curation.customers import Customers, create_customers


@pytest.fixture
def customers(platform: Platform) -> Iterator[Customers]:
    found = create_customers(platform)
    yield found
    found.lake.close()
