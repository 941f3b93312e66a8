"""Every verb is tried on both ways."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakehold.directory.platform import Platform
from tests.cli.ways import Way, served


@pytest.fixture(autouse=True)
def _at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of whoever runs the tests is read or written."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("LAKEHOLD_URL", "LAKEHOLD_TOKEN", "LAKEHOLD_DATA", "LAKEHOLD_DATABASE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(params=["remote", "local"])
def way(request: pytest.FixtureRequest, platform: Platform) -> Iterator[Way]:
    """Acme with Ada, Ann and Bob: over HTTP, and by its database. On SQLite and on PostgreSQL."""
    if request.param == "local":
        yield Way(platform, "")
        return
    with served(platform) as address:
        yield Way(platform, address)
