"""The data product Customers for each test, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lakehold.directory.platform import Platform
from tests.access.company import TENANT
from tests.api.client import Api, serve_api
from tests.workspaces.products.curation.customers import Customers, create_customers, create_stranger


@pytest.fixture
def customers(platform: Platform) -> Iterator[Customers]:
    found = create_customers(platform)
    yield found
    found.lake.close()


@pytest.fixture
def api(customers: Customers) -> Iterator[Api]:
    """The platform of the data product over HTTP, with another tenant on it."""
    create_stranger(customers.platform)
    with serve_api(customers.platform, TENANT) as found:
        yield found
