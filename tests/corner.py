"""Corner & Main in a whole installation, with a clock that a test can move."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
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
from tests import postgres

TENANT = company.TENANT
LOADED = 20_000 * DAY


@dataclass(slots=True)
class Hand:
    """The hand of a clock. It goes a little way on with every look, so that no two transactions are at one moment."""

    at: Moment = LOADED

    def __call__(self) -> Moment:
        self.at += 1
        return self.at

    def pass_by(self, days: int) -> None:
        """Let days pass."""
        self.at += days * DAY


class Corner(Platform):
    """The installation, and its clock."""

    def __init__(self, settings: Settings) -> None:
        self.hand = Hand(LOADED + DAY)
        super().__init__(settings, self.hand)

    def log(self, wanted: AuditFilter | None = None) -> list[NumberedEntry]:
        """The audit log, newest first, after a look at its chain."""
        with self.read(by("olga")) as ctx:
            assert not ctx.audit.verify().fault
            return ctx.audit.page(wanted or AuditFilter(), limit=1_000)


def by(member: str) -> Caller:
    """Somebody of the company calls."""
    return Caller(TENANT, member)


@pytest.fixture(scope="session")
def corner_file(template_file: Path) -> Path:
    """The company in a SQLite file, to be copied."""
    file = template_file.with_name("corner.sqlite")
    shutil.copy(template_file, file)
    _load(f"sqlite:///{file}")
    return file


@pytest.fixture(scope="session")
def corner_template(server: postgres.Server, template: str) -> str:
    """The company in a PostgreSQL database, to be copied."""
    name = server.create(template)
    _load(server.url(name))
    return name


def _load(url: str) -> None:
    database = Database(url)
    company.load(AccessEngine(database, Hand()))
    database.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def corner(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Corner]:
    """On SQLite and on PostgreSQL, with nothing done there yet."""
    if request.param == "sqlite":
        file = tmp_path / "corner.sqlite"
        shutil.copy(request.getfixturevalue("corner_file"), file)
        url = f"sqlite:///{file}"
    else:
        running: postgres.Server = request.getfixturevalue("server")
        name = running.create(request.getfixturevalue("corner_template"))
        url = running.url(name)
    platform = Corner(Settings(data=tmp_path / "data", database=url))
    yield platform
    platform.close()
    if request.param == "postgresql":
        running.drop(name)
