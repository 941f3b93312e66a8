"""The application of a platform, for one test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lakehold.demo import company
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from tests import postgres
from tests.access.company import TENANT
from tests.api.client import Api, serve_api
from tests.conftest import BOTH


@pytest.fixture
def api(platform: Platform) -> Iterator[Api]:
    """Acme over HTTP: Ada and Ann, who are Owners, and Bob, who has nothing yet. On SQLite and on PostgreSQL."""
    with serve_api(platform, TENANT) as found:
        yield found


@pytest.fixture(scope="session", params=BOTH)
def corner(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """The demo company over HTTP, for tests that only ask. On SQLite and on PostgreSQL."""
    folder = tmp_path_factory.mktemp("corner")
    url = f"sqlite:///{folder / 'lakehold.sqlite'}"
    if request.param == "postgresql":
        running: postgres.Server = request.getfixturevalue("server")
        url = running.url(running.create())
    platform = Platform(Settings(data=folder / "data", database=url))
    platform.database.migrate()
    company.load(platform.access)
    with serve_api(platform, company.TENANT) as found:
        yield found
    platform.close()
