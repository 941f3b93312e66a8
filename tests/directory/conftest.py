"""The platform Acme for each test, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakehold import workspaces
from lakehold.directory import tenants
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.tenants import TenantSetup
from lakehold.kit.settings import Settings
from tests.clock import StoppedClock
from tests.demo_company import corner, corner_databases, corner_file
from tests.directory.acme import SECRET, AcmePlatform

__all__ = ["corner", "corner_databases", "corner_file"]


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


@pytest.fixture
def empty_platform(database_url: str, tmp_path: Path, clock: StoppedClock) -> Iterator[Platform]:
    """A platform without a tenant."""
    platform = Platform(Settings(data=tmp_path / "data", database=database_url), clock)
    yield platform
    platform.close()


@pytest.fixture
def acme(empty_platform: Platform, clock: StoppedClock) -> AcmePlatform:
    founding = TenantSetup("Acme", "Olga", "olga@example.org", SECRET)
    founded = tenants.create_tenant(empty_platform, workspaces.models(), founding, first=True)
    return AcmePlatform(empty_platform, clock, Caller(founded.tenant, founded.owner))
