"""A database with data in it comes to this version from every earlier one, and loses nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic.script import ScriptDirectory

import lakehold.migrations
from lakehold.access import AccessEngine
from lakehold.demo import company
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.database import Database
from lakehold.kit.settings import Settings
from tests import postgres

REVISIONS = [step.revision for step in ScriptDirectory(str(Path(lakehold.migrations.__file__).parent)).walk_revisions()]
ASKED = [("tara", "edit", "daily_sales"), ("bella", "edit", "daily_sales"), ("erik", "edit", "orders")]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database without tables."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'lakehold.sqlite'}"
    running: postgres.Server = request.getfixturevalue("server")
    return running.url(running.create())


@pytest.mark.parametrize("revision", REVISIONS)
def test_upgrade_with_data(url: str, revision: str, tmp_path: Path) -> None:
    old = Database(url)
    old.migrate(revision)
    access = AccessEngine(old)
    company.load(access)
    with access.read(company.TENANT) as session:
        said = session.check_many(ASKED)
    old.close()

    platform = Platform(Settings(data=tmp_path / "data", database=url))
    platform.database.migrate()
    with platform.write(Caller(company.TENANT, "olga")) as ctx:
        assert ctx.session.check_many(ASKED) == said
        ctx.note("upgrade", company.TENANT)
    with platform.read(Caller(company.TENANT, "olga")) as ctx:
        assert not ctx.audit.verify().fault
    platform.close()
