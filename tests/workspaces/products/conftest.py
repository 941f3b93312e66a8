"""A products project beside a lakehouse, for all tests of this package. Each test has sources and data products of its
own there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.workspaces.lakehouse.inline_runs import inline_runs
from tests.workspaces.products.project import ProductsProject, create_project


@pytest.fixture(scope="package")
def here(
    spark: SparkSession, template_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ProductsProject]:
    with inline_runs(spark, template_file, tmp_path_factory.mktemp("products")) as found:
        yield create_project(found)
