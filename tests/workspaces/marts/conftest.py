"""A project of marts beside a lakehouse, for all tests of this room: each has marts and reports of its own there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.workspaces.lakehouse.moving import moving
from tests.workspaces.marts.project import Project, furnished


@pytest.fixture(scope="package")
def here(spark: SparkSession, template_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with moving(spark, template_file, tmp_path_factory.mktemp("marts"), databases="jdbc:sqlite:") as found:
        yield furnished(found)
