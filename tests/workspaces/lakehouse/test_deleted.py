"""The page of deleted tables: seen by who could delete them, restored there, and gone when their days are over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import httpx
import pytest
from pyspark.sql import SparkSession

from lakehold.access import Grant
from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.catalog import resources
from lakehold.directory import sign_ins
from lakehold.directory.caller import ClientInfo
from lakehold.kit.clock import DAY, now
from lakehold.kit.errors import NotFoundError
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.web import app_factory
from lakehold.workspaces.lakehouse import deleted_tables
from lakehold.workspaces.lakehouse.executors import tables
from tests.lake.shop import ADA, ED, RITA, TENANT
from tests.web.forms import send
from tests.web.site import running
from tests.workspaces.lakehouse.inline_runs import InlineRuns
from tests.workspaces.lakehouse.test_table_maintenance import table

HERE = "/workspaces/shop/deleted"
Visitor = Callable[[str], httpx.Client]


@pytest.fixture(scope="module")
def visitor(here: InlineRuns) -> Iterator[Visitor]:
    """Somebody who has signed in, without a browser."""
    platform, clients = here.shop.platform, list[httpx.Client]()
    with running(app_factory.create_web_app(platform)) as address:

        def visits(member: str) -> httpx.Client:
            visit = ClientInfo("127.0.0.1", "a test", "")
            with platform.write(ADA) as ctx:
                cookie = sign_ins.create(ctx, platform.settings, member, "test", visit).secret
            headers = {"Accept": "text/html"}
            clients.append(
                httpx.Client(base_url=address, headers=headers, cookies={SESSION_COOKIE: cookie}, timeout=60)
            )
            return clients[-1]

        yield visits
        for client in clients:
            client.close()


def deleted(here: InlineRuns, spark: SparkSession, name: str) -> None:
    table(here, spark, name, 2)
    with here.shop.platform.write(ADA) as ctx:
        resources.delete(ctx, name)


def test_a_table_is_seen_and_restored_there_by_who_could_delete_it(
    here: InlineRuns, visitor: Visitor, spark: SparkSession
) -> None:
    table(here, spark, "forgotten", 2)
    with here.shop.platform.access.write(TENANT) as session:
        session.store.add(Grant("ed", "manager", "forgotten"))
        session.store.add(Grant("rita", "manager", "forgotten"))
    with here.shop.platform.write(ADA) as ctx:
        resources.delete(ctx, "forgotten")
    # Rita could delete it then, and cannot make one there now; Sam knows of nothing.
    assert "forgotten" not in visitor("rita").get(HERE).text
    assert visitor("sam").get(HERE).status_code == 404
    for member in ("rita", "sam"):
        page = "/profile" if member == "sam" else HERE
        assert send(visitor(member), page, HERE, table="forgotten").status_code == 404
    # Nor does she get its rows by another layer, in which she can.
    with here.shop.platform.access.write(TENANT) as session:
        session.store.create("lakehouse.layer", "attic", uid="attic", edges={"lakehouse": "shop"})
        session.store.add(Grant("rita", "manager", "attic"))
    with (
        closing(IcebergCatalog(here.shop.platform.settings)) as lake,
        pytest.raises(NotFoundError, match="no deleted table"),
        here.shop.platform.write(RITA) as ctx,
    ):
        deleted_tables.restore_table(ctx, lake, "forgotten", layer="attic")
    client = visitor("ed")
    page = client.get(HERE).text
    expected_texts = ("forgotten", "30 days", "Deleted from raw", "(Manager)")
    assert [words for words in expected_texts if words not in page] == []
    again = send(client, HERE, HERE, table="forgotten", name="orders")
    assert (again.status_code, "is taken by the table orders" in again.text) == (422, True)
    gone = send(client, HERE, HERE, table="forgotten", name="found")
    assert (gone.status_code, gone.headers["location"]) == (303, "/resources/forgotten")
    assert "found was restored." in client.get(gone.headers["location"]).text
    assert here.rows("found") == [(0, "word 0"), (1, "word 1")]
    assert "forgotten" not in client.get(HERE).text
    assert send(client, HERE, HERE, table="forgotten").status_code == 404


def test_when_its_days_are_over_it_is_gone(here: InlineRuns, visitor: Visitor, spark: SparkSession) -> None:
    deleted(here, spark, "outlived")
    platform, client = here.shop.platform, visitor("ada")
    assert "outlived" in client.get(HERE).text
    platform.clock = lambda: now() + 31 * DAY
    try:
        tables.purge_dropped_tables(platform, here.shop.tables)
    finally:
        platform.clock = now
    assert "outlived" not in client.get(HERE).text
    assert send(client, HERE, HERE, table="outlived").status_code == 404


def test_many_that_others_have_deleted_hide_none_of_ones_own(
    here: InlineRuns, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deleted_tables, "_MAX_LISTED", 2)
    table(here, spark, "own", 1)
    with here.shop.platform.access.write(TENANT) as session:
        session.store.add(Grant("ed", "manager", "own"))
    with here.shop.platform.write(ADA) as ctx:
        resources.delete(ctx, "own")
    for name in ("later", "latest"):
        deleted(here, spark, name)
    lake = IcebergCatalog(here.shop.platform.settings)
    with here.shop.platform.read(ED) as ctx:
        assert [each.name for each in deleted_tables.list_restorable(ctx, lake)] == ["own"]
    with here.shop.platform.read(ADA) as ctx:
        assert [each.name for each in deleted_tables.list_restorable(ctx, lake)] == ["latest", "later"]
    lake.close()
