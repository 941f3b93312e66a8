"""An office for each test, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from lakehold.directory.platform import Platform
from tests.workspaces.marts.notifications.office import Office, opened


@pytest.fixture
def office(platform: Platform) -> Office:
    return opened(platform)
