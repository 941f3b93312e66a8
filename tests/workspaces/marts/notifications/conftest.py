"""An office for each test, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from lakehold.directory.installation import Installation
from tests.workspaces.marts.notifications.office import Office, opened


@pytest.fixture
def office(house: Installation) -> Office:
    return opened(house)
