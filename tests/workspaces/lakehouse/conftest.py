"""One shop for all tests that move its data: each has pipelines and tables of its own there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.workspaces.lakehouse.moving import Moving, moving


@pytest.fixture(scope="package")
def here(spark: SparkSession, template_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Moving]:
    with moving(spark, template_file, tmp_path_factory.mktemp("moving")) as found:
        yield found
