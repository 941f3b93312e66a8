"""A platform for one test: tenant Acme with the Owners Ada and Ann, and Bob, who has no role."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakehold.access import Grant
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from tests.access.company import TENANT, create_company

ADA, ANN, BOB = (Caller(TENANT, member) for member in ("ada", "ann", "bob"))


@pytest.fixture
def platform(database_url: str, tmp_path: Path) -> Iterator[Platform]:
    """Create a platform on SQLite and on PostgreSQL."""
    platform = Platform(Settings(data=tmp_path / "data", database=database_url))
    access = create_company(platform.database)
    with access.write(TENANT) as session:
        session.store.create("tenant.member", "Ada", uid="ada", edges={"tenant": TENANT})
        session.store.add(Grant("ada", "owner", TENANT))
    yield platform
    platform.close()
