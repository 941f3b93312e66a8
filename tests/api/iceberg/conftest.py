"""The shop with its rows, and the server that other engines reach."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyiceberg.catalog.rest import RestCatalog
from pyspark.sql import SparkSession

from lakehold.api.http.app import create_app
from lakehold.directory import tokens
from lakehold.directory.caller import Caller
from tests.lake.shop import TENANT, Shop, open_shop
from tests.web.site import running

CatalogFactory = Callable[..., RestCatalog]


@pytest.fixture(scope="package")
def shop(spark: SparkSession, template_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("iceberg")
    shutil.copy(template_file, folder / "lakehold.sqlite")
    with open_shop(spark, f"sqlite:///{folder / 'lakehold.sqlite'}", folder / "data") as opened:
        yield opened


@pytest.fixture(scope="package")
def address(shop: Shop) -> Iterator[str]:
    """Of the catalog that everybody reaches."""
    with running(create_app(shop.platform)) as found:
        yield f"{found}/iceberg"


@pytest.fixture
def secret(shop: Shop) -> Callable[..., str]:
    """An API token of a member's."""

    def made(member: str, resources: frozenset[str] | None = None) -> str:
        with shop.platform.write(Caller(TENANT, member)) as ctx:
            return tokens.create(ctx, "engine", actions=None, resources=resources).secret

    return made


@pytest.fixture
def catalog(address: str, secret: Callable[..., str]) -> CatalogFactory:
    """A plain client of a member's, with a token of its own."""

    def made(member: str, warehouse: str = "", resources: frozenset[str] | None = None) -> RestCatalog:
        more = {"warehouse": warehouse} if warehouse else {}
        return RestCatalog("lake", uri=address, token=secret(member, resources), **more)

    return made
