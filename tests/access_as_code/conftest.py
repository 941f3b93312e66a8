"""Corner & Main in a database of its own for each test, loaded once and copied."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lakehold.access.engine import AccessEngine
from lakehold.demo import company
from lakehold.kit.database import Database
from lakehold.workspaces import registry
from tests import postgres
from tests.access_as_code.direct_writer import export_as_owner
from tests.clock import StoppedClock
from tests.conftest import BOTH
from tests.postgres_pool import DatabasePool


@pytest.fixture(scope="session")
def demo_file(template_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("demo") / "lakehold.sqlite"
    shutil.copy(template_file, file)
    _load(f"sqlite:///{file}")
    return file


@pytest.fixture(scope="session")
def demo_databases(server: postgres.Server, template: str) -> DatabasePool:
    name = server.create(template)
    _load(server.url(name))
    return DatabasePool(server, name)


def _load(url: str) -> None:
    database = Database(url)
    company.load(AccessEngine(database, StoppedClock(), registry.unique_names()))
    database.close()


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


@pytest.fixture(params=BOTH)
def access(request: pytest.FixtureRequest, tmp_path: Path, clock: StoppedClock) -> Iterator[AccessEngine]:
    """The company, at a moment that stands still."""
    if request.param == "sqlite":
        file = tmp_path / "lakehold.sqlite"
        shutil.copy(request.getfixturevalue("demo_file"), file)
        database = Database(f"sqlite:///{file}")
        yield AccessEngine(database, clock, registry.unique_names())
        database.close()
        return
    databases: DatabasePool = request.getfixturevalue("demo_databases")
    with databases.lend() as url, closing(Database(url)) as database:
        yield AccessEngine(database, clock, registry.unique_names())


@pytest.fixture
def files(access: AccessEngine) -> dict[str, str]:
    """The company's files, to be changed by a test."""
    return export_as_owner(access, company.TENANT)
