"""A lake of its own for each test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakehold.kit.settings import Settings
from lakehold.lake.iceberg_catalog import IcebergCatalog, TableIdentifier
from lakehold.lake.spark.tables import Tables
from tests.lake.shop import Shop, open_shop

_numbers = count(1)


@pytest.fixture
def lake(database_url: str, tmp_path: Path) -> Iterator[IcebergCatalog]:
    """Its catalog is kept in SQLite, or in PostgreSQL."""
    data = tmp_path / "data"
    data.mkdir(exist_ok=True)
    found = IcebergCatalog(Settings(data=data, database=database_url))
    yield found
    found.close()


@pytest.fixture
def tables(spark: SparkSession, lake: IcebergCatalog) -> Tables:
    return Tables(spark, lake)


@pytest.fixture
def place() -> TableIdentifier:
    """Of a table that nobody has made yet."""
    return TableIdentifier(1, next(_numbers))


@pytest.fixture(scope="session")
def shop(spark: SparkSession, template_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """One for all tests that only read there."""
    folder = tmp_path_factory.mktemp("shop")
    file = folder / "lakehold.sqlite"
    shutil.copy(template_file, file)
    with open_shop(spark, f"sqlite:///{file}", folder / "data") as opened:
        yield opened
