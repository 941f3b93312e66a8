"""Runs every command remotely and locally."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakehold.directory.platform import Platform
from tests.cli.command_runner import CommandRunner, serve_platform


@pytest.fixture(autouse=True)
def _at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Isolate the tests from the files of the user who runs them."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("LAKEHOLD_URL", "LAKEHOLD_TOKEN", "LAKEHOLD_DATA", "LAKEHOLD_DATABASE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(params=["remote", "local"])
def way(request: pytest.FixtureRequest, platform: Platform) -> Iterator[CommandRunner]:
    """Acme with Ada, Ann and Bob: over HTTP, and by its database. On SQLite and on PostgreSQL."""
    if request.param == "local":
        yield CommandRunner(platform, "")
        return
    with serve_platform(platform) as address:
        yield CommandRunner(platform, address)
