"""A whole installation for one test: Acme with Ada and Ann, who are Owners, and Bob, who has nothing yet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakehold.access import Grant
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from tests.access.company import TENANT, founded

ADA, ANN, BOB = (Caller(TENANT, member) for member in ("ada", "ann", "bob"))


@pytest.fixture
def house(database_url: str, tmp_path: Path) -> Iterator[Platform]:
    """On SQLite and on PostgreSQL."""
    platform = Platform(Settings(data=tmp_path / "data", database=database_url))
    access = founded(platform.database)
    with access.write(TENANT) as session:
        session.store.create("tenant.member", "Ada", uid="ada", edges={"tenant": TENANT})
        session.store.add(Grant("ada", "owner", TENANT))
    yield platform
    platform.close()
