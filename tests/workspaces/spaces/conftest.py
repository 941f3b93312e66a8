"""Data spaces that the tests of this room share. Each test has tasks and tables of its own there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from pyspark.sql import SparkSession

from tests import postgres
from tests.workspaces.spaces.dashboard import Dashboard, open_dashboard
from tests.workspaces.spaces.registry import Lakehouse, open_lakehouse
from tests.workspaces.spaces.space import ZOE, InlineSpace, inline_space


@pytest.fixture(scope="package")
def database(server: postgres.Server) -> Iterator[str]:
    name = server.create()
    yield name
    server.drop(name)


@pytest.fixture
def source(server: postgres.Server, database: str) -> Iterator[psycopg.Connection]:
    """A connection to the database that tasks read."""
    with psycopg.connect(server.url(database), autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="package")
def space(
    spark: SparkSession,
    template_file: Path,
    tmp_path_factory: pytest.TempPathFactory,
    server: postgres.Server,
    database: str,
) -> Iterator[InlineSpace]:
    with inline_space(spark, template_file, tmp_path_factory.mktemp("spaces"), server, database) as found:
        yield found


@pytest.fixture(scope="package")
def shop(space: InlineSpace) -> str:
    """The connection to the database."""
    with space.platform.read(ZOE) as ctx:
        items = ctx.session.list("zoe", "list", "spaces.connection", within="sources").items
        return next(ctx.view.uid(each.id) for each in items if each.name == "shop")


@pytest.fixture(scope="package")
def lake(space: InlineSpace) -> Lakehouse:
    """Tables and data marts that can be registered."""
    return open_lakehouse(space)


@pytest.fixture(scope="package")
def board(space: InlineSpace, server: postgres.Server, database: str, shop: str) -> Iterator[Dashboard]:
    """Sales in a dataset, for apps."""
    with (
        psycopg.connect(server.url(database), autocommit=True) as source,
        open_dashboard(space, source, shop) as found,
    ):
        yield found
