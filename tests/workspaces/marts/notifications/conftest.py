"""The project Sales for each test, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from lakehold.directory.platform import Platform
from tests.workspaces.marts.notifications.sales_project import SalesProject, create_sales_project


@pytest.fixture
def sales_project(platform: Platform) -> SalesProject:
    return create_sales_project(platform)
