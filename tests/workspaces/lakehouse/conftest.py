"""One shop for all tests that run pipelines. Each test has pipelines and tables of its own there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.workspaces.lakehouse.inline_runs import InlineRuns, inline_runs


@pytest.fixture(scope="package")
def here(spark: SparkSession, template_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[InlineRuns]:
    with inline_runs(spark, template_file, tmp_path_factory.mktemp("moving")) as found:
        yield found
