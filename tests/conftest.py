"""Databases for tests. The same tests run on SQLite and on a real PostgreSQL."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from hypothesis import settings

from lakehold.api.http.json_logging import JsonLineFormatter
from lakehold.directory import passwords
from lakehold.kit.database import Database
from tests import postgres
from tests.postgres_pool import DatabasePool

settings.register_profile("default", deadline=None, print_blob=True)
# The same examples in every run, so that what fails there failed by the change under test.
settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

pytest_plugins = ["tests.spark", "tests.platform"]

# What a real password costs on purpose, a thousand made-up ones need not.
passwords.hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)

# A Spark that lives for some seconds is not worth compiling well, and two cores are not worth sharing with a collector.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

BOTH = ("sqlite", "postgresql")


TESTS = Path(__file__).parent
SQL_ROOMS = (
    *("access/facts", "access/test_commit_order", "access/test_statements", "access/test_two_processes"),
    *("access/test_writers", "catalog", "directory/test_model_upgrade", "directory/test_tokens", "kit", "laws"),
    *("ledger", "migrations/test_migrations", "runs/test_jobs", "runs/test_runs", "runs/test_triggers"),
)
"""Where SQL is written or transactions meet: their tests run on both databases every time. Elsewhere the twin on
PostgreSQL is rare, but for one flow of each service.
"""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the rare twins, and run files with slow tests first, so that no process waits at the end for one that has
    just begun.
    """
    for item in items:
        if _is_postgresql_twin(item) and not item.path.relative_to(TESTS).as_posix().startswith(SQL_ROOMS):
            item.add_marker("rare")
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def _is_postgresql_twin(item: pytest.Item) -> bool:
    callspec = getattr(item, "callspec", None)
    return callspec is not None and "postgresql" in callspec.params.values() and not item.get_closest_marker("flow")


@pytest.fixture(autouse=True)
def own_log() -> Iterator[None]:
    """Take back what `configure_logging` did in a test: later ones would log into a stream that is closed."""
    yield
    root = logging.getLogger()
    if ours := [each for each in root.handlers if isinstance(each.formatter, JsonLineFormatter)]:
        root.handlers[:] = [each for each in root.handlers if each not in ours]
        for name in ("lakehold", "uvicorn"):
            logging.getLogger(name).setLevel(logging.NOTSET)
        logging.getLogger("uvicorn.access").disabled = False


@pytest.fixture(scope="session")
def server() -> Iterator[postgres.Server]:
    """A PostgreSQL for the whole run."""
    with postgres.server() as running:
        yield running


@pytest.fixture(scope="session")
def template(server: postgres.Server) -> str:
    """An empty PostgreSQL database with all tables."""
    name = server.create()
    open_migrated(server.url(name)).close()
    return name


@pytest.fixture(scope="session")
def empty_databases(server: postgres.Server, template: str) -> DatabasePool:
    """PostgreSQL databases with all tables and no rows."""
    return DatabasePool(server, template)


@pytest.fixture(scope="session")
def template_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty SQLite database with all tables."""
    file = tmp_path_factory.mktemp("template") / "lakehold.sqlite"
    open_migrated(f"sqlite:///{file}").close()
    return file


@pytest.fixture(params=BOTH)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database with all tables, for one test."""
    if request.param == "sqlite":
        file = tmp_path / "lakehold.sqlite"
        shutil.copy(request.getfixturevalue("template_file"), file)
        yield f"sqlite:///{file}"
        return
    databases: DatabasePool = request.getfixturevalue("empty_databases")
    with databases.lend() as url:
        yield url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """An empty database with all tables, for one test."""
    opened = Database(database_url)
    yield opened
    opened.close()


@pytest.fixture(scope="session", params=BOTH)
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A database that many examples share, each with a tenant of its own. Data of other tenants must not be visible."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('shared') / 'lakehold.sqlite'}"
    else:
        running: postgres.Server = request.getfixturevalue("server")
        url = running.url(running.create())
    opened = open_migrated(url)
    yield opened
    opened.close()


def open_migrated(url: str) -> Database:
    """The database of this URL, with its tables."""
    found = Database(url)
    found.migrate()
    return found
