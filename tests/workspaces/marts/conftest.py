"""A marts project beside a lakehouse, for all tests of this package. Each test has marts and reports of its own
there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakehold.runs.scheduler.schedule import trigger_table
from tests.workspaces.lakehouse.inline_runs import inline_runs
from tests.workspaces.marts.project import MartsProject, create_project


@pytest.fixture(scope="package")
def here(spark: SparkSession, template_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MartsProject]:
    with inline_runs(spark, template_file, tmp_path_factory.mktemp("marts")) as found:
        yield create_project(found)


@pytest.fixture(autouse=True)
def _delete_schedules(request: pytest.FixtureRequest) -> Iterator[None]:
    """Delete the schedules that a test saved, because tests that start what is due share the project."""
    yield
    if "here" in request.fixturenames:
        found: MartsProject = request.getfixturevalue("here")
        with found.inline_runs.shop.platform.database.write() as transaction:
            transaction.connection.execute(trigger_table.delete())


@pytest.fixture(autouse=True)
def _allow_its_database(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """The database file of the test itself is allowed, and no other."""
    if "here" in request.fixturenames:
        platform = request.getfixturevalue("here").inline_runs.shop.platform
        databases = f"jdbc:sqlite:{tmp_path / 'shop.sqlite'}"
        platform.settings = platform.settings.model_copy(update={"databases": databases})
