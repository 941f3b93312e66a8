"""The demo company Corner & Main on a platform, with a clock that a test can advance."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from lakehold.access import AccessEngine
from lakehold.demo import company
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.clock import DAY, Moment
from lakehold.kit.database import Database
from lakehold.kit.settings import Settings
from lakehold.ledger.audit import AuditFilter, NumberedEntry
from lakehold.workspaces import registry
from tests import postgres
from tests.postgres_pool import DatabasePool

TENANT = company.TENANT
LOADED = 20_000 * DAY


@dataclass(slots=True)
class AdvancingClock:
    """A clock that advances a little with every call, so that no two transactions have the same time."""

    at: Moment = LOADED

    def __call__(self) -> Moment:
        self.at += 1
        return self.at

    def advance_days(self, days: int) -> None:
        """Let days pass."""
        self.at += days * DAY


class DemoPlatform(Platform):
    """A platform with the demo company and its clock."""

    def __init__(self, settings: Settings) -> None:
        self.hand = AdvancingClock(LOADED + DAY)
        super().__init__(settings, self.hand)

    def log(self, entry_filter: AuditFilter | None = None) -> list[NumberedEntry]:
        """The audit log, newest first, after a look at its chain."""
        with self.read(as_member("olga")) as ctx:
            assert not ctx.audit.verify().fault
            return ctx.audit.page(entry_filter or AuditFilter(), limit=1_000)


def as_member(member: str) -> Caller:
    """Return the caller of a member of the company."""
    return Caller(TENANT, member)


@pytest.fixture(scope="session")
def corner_file(template_file: Path) -> Path:
    """Create the company in a SQLite file, to be copied."""
    file = template_file.with_name("corner.sqlite")
    shutil.copy(template_file, file)
    _load_company(f"sqlite:///{file}")
    return file


@pytest.fixture(scope="session")
def corner_databases(server: postgres.Server, template: str) -> DatabasePool:
    """PostgreSQL databases with the company."""
    name = server.create(template)
    _load_company(server.url(name))
    return DatabasePool(server, name)


def _load_company(url: str) -> None:
    database = Database(url)
    company.load(AccessEngine(database, AdvancingClock(), registry.unique_names()))
    database.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def corner(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DemoPlatform]:
    """Create the platform with the company on SQLite and on PostgreSQL."""
    with ExitStack() as stack:
        if request.param == "sqlite":
            file = tmp_path / "corner.sqlite"
            shutil.copy(request.getfixturevalue("corner_file"), file)
            url = f"sqlite:///{file}"
        else:
            databases: DatabasePool = request.getfixturevalue("corner_databases")
            url = stack.enter_context(databases.lend())
        platform = DemoPlatform(Settings(data=tmp_path / "data", database=url))
        stack.callback(platform.close)
        yield platform
