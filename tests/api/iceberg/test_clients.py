"""A plain PyIceberg and a plain Spark read just what the member of their token may read, and write nothing."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pyarrow as pa
import pytest
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import (
    ForbiddenError,
    NoSuchNamespaceError,
    NoSuchTableError,
    OAuthError,
    RESTError,
    UnauthorizedError,
)
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakehold.access import Grant
from tests.lake.shop import SECRET, TENANT, Shop

Made = Callable[..., RestCatalog]
SCHEMA = Schema(NestedField(1, "id", LongType(), required=False))


def listed(catalog: RestCatalog, *namespace: str) -> set[str]:
    return {found[-1] for found in catalog.list_tables(namespace)}


def test_a_client_lists_what_its_member_may_read(catalog: Made) -> None:
    rita = catalog("rita")
    assert rita.list_namespaces() == [("Shop",)]
    assert rita.list_namespaces("Shop") == [("Shop", "raw"), ("Shop", "service")]
    assert listed(rita, "Shop", "raw") == {"orders", "customers"}
    assert listed(rita, "Shop", "service") == {"sums"}
    assert rita.list_tables("Shop") == []
    assert rita.namespace_exists(("Shop", "raw"))
    assert not rita.namespace_exists(("Shop", "secret"))
    assert rita.table_exists(("Shop", "raw", "orders"))
    assert not rita.table_exists(("Shop", "secret", "hidden"))
    assert rita.list_views(("Shop", "raw")) == []
    assert catalog("ada").list_namespaces() == [("Other",), ("Shop",)]
    assert catalog("sam").list_namespaces() == [("Other",)]


def test_a_client_of_one_workspace_has_its_layers(catalog: Made) -> None:
    rita = catalog("rita", "Shop")
    assert rita.list_namespaces() == [("raw",), ("service",)]
    assert listed(rita, "raw") == {"orders", "customers"}
    assert rita.load_table("raw.orders").scan().to_arrow().num_rows == 100
    assert listed(catalog("sam", "other"), "raw") == {"elsewhere"}


def test_a_client_reads_rows(catalog: Made) -> None:
    rita = catalog("rita")
    found = rita.load_table(("shop", "RAW", "Orders")).scan(row_filter="id < 3", selected_fields=("id", "amount"))
    assert found.to_arrow().sort_by("id").to_pydict()["id"] == [0, 1, 2]
    assert rita.load_table(("Shop", "service", "sums")).scan().to_arrow().to_pylist() == [{"id": 1, "total": 2.5}]
    rows = catalog("ada").load_table(("Shop", "secret", "hidden")).scan().to_arrow().to_pylist()
    assert rows == [{"id": 1, "word": SECRET}]


@pytest.mark.parametrize(
    "path",
    ["shop/namespaces/secret/tables/{}", "namespaces/Shop%1Fsecret/tables/{}", "shop/namespaces/{}", "{}/namespaces"],
)
def test_what_is_hidden_and_what_is_not_there_are_answered_alike(
    shop: Shop, address: str, secret: Callable[..., str], path: str
) -> None:
    # A layer and a workspace are hidden too.
    name = "other" if path.startswith("{}") else "secret" if path.endswith("namespaces/{}") else "hidden"
    headers = {"authorization": f"Bearer {secret('rita')}"}
    with httpx.Client(base_url=f"{address}/v1", headers=headers, trust_env=False) as client:
        for method in ("GET",) if path.endswith("namespaces") else ("GET", "HEAD"):
            hidden, missing = (client.request(method, path.format(each)) for each in (name, "absent"))
            assert (hidden.status_code, hidden.text.replace(name, "absent")) == (404, missing.text)
            assert hidden.headers["content-type"] == missing.headers["content-type"]
            assert str(shop.platform.settings.data) not in hidden.text


def test_a_client_is_told_that_something_is_not_there(catalog: Made) -> None:
    rita = catalog("rita")
    for name in ("hidden", "absent"):
        with pytest.raises(NoSuchTableError):
            rita.load_table(("Shop", "secret", name))
    for namespace in ("secret", "absent"):
        with pytest.raises(NoSuchNamespaceError):
            rita.list_tables(("Shop", namespace))
    for warehouse in ("Other", "absent"):
        with pytest.raises(RESTError, match="nothing called"):
            catalog("rita", warehouse)


def test_a_client_writes_nothing(shop: Shop, catalog: Made) -> None:
    ada = catalog("ada")
    before = shop.tables.current_metadata(shop.place("orders")).location
    orders = ada.load_table(("Shop", "raw", "orders"))
    writes: list[Callable[[], object]] = [
        lambda: ada.create_namespace(("Shop", "mine")),
        lambda: ada.drop_namespace(("Shop", "service")),
        lambda: ada.update_namespace_properties(("Shop", "raw"), updates={"a": "b"}),
        lambda: ada.create_table(("Shop", "raw", "mine"), SCHEMA),
        lambda: ada.create_table_transaction(("Shop", "raw", "mine"), SCHEMA).commit_transaction(),
        lambda: ada.register_table(("Shop", "raw", "mine"), before),
        lambda: ada.drop_table(("Shop", "raw", "orders")),
        lambda: ada.purge_table(("Shop", "raw", "orders")),
        lambda: ada.rename_table(("Shop", "raw", "orders"), ("Shop", "raw", "mine")),
        lambda: orders.transaction().set_properties(a="b").commit_transaction(),
        lambda: orders.append(pa.table({"id": [1]}, schema=pa.schema([("id", pa.int64())]))),
        lambda: ada.drop_view(("Shop", "raw", "mine")),
    ]
    for write in writes:
        with pytest.raises((ForbiddenError, NotImplementedError), match=r"read only|does not support"):
            write()
    assert shop.tables.current_metadata(shop.place("orders")).location == before


def test_what_is_taken_away_is_gone_at_once(shop: Shop, catalog: Made) -> None:
    rita, grant = catalog("rita"), Grant("rita", "viewer", "hidden")
    with shop.platform.access.write(TENANT) as session:
        session.store.add(grant)
    assert rita.load_table(("Shop", "secret", "hidden")).scan().to_arrow().num_rows == 1
    with shop.platform.access.write(TENANT) as session:
        session.store.remove(grant)
    with pytest.raises(NoSuchTableError):
        rita.load_table(("Shop", "secret", "hidden"))
    assert listed(rita, "Shop", "raw") == {"orders", "customers"}


def test_a_narrowed_token_has_what_it_is_narrowed_to(catalog: Made) -> None:
    rita = catalog("rita", resources=frozenset({"orders"}))
    assert rita.list_namespaces() == [("Shop",)]
    assert rita.list_namespaces("Shop") == [("Shop", "raw")]
    assert listed(rita, "Shop", "raw") == {"orders"}
    assert rita.load_table(("Shop", "raw", "orders")).scan(limit=1).to_arrow().num_rows == 1
    for path in (("Shop", "raw", "customers"), ("Shop", "service", "sums"), ("Shop", "secret", "hidden")):
        with pytest.raises(NoSuchTableError):
            rita.load_table(path)


def test_without_a_token_nothing_is_told(address: str) -> None:
    for token in ("", "lh_nonsense", "lht_abc.def"):
        with pytest.raises((UnauthorizedError, OAuthError)):
            RestCatalog("lake", uri=address, token=token or "none").list_namespaces()
    for method, path in (("GET", "config"), ("GET", "namespaces"), ("POST", "namespaces"), ("DELETE", "x/tables/y")):
        found = httpx.request(method, f"{address}/v1/{path}", trust_env=False)
        assert (found.status_code, found.json()["error"]["type"]) == (401, "NotAuthorizedException")


def test_a_plain_spark_reads_the_same_and_writes_nothing(
    spark: SparkSession, address: str, secret: Callable[..., str]
) -> None:
    session = spark.newSession()
    here = "spark.sql.catalog.outside"
    catalog_settings = {
        "": "org.apache.iceberg.spark.SparkCatalog",
        ".type": "rest",
        ".uri": address,
        ".token": secret("rita"),
    }
    for name, value in (catalog_settings | {".warehouse": "Shop", ".token-refresh-enabled": "false"}).items():
        session.conf.set(f"{here}{name}", value)
    assert {row[0] for row in session.sql("SHOW NAMESPACES IN outside").collect()} == {"raw", "service"}
    assert {row[1] for row in session.sql("SHOW TABLES IN outside.raw").collect()} == {"orders", "customers"}
    joined = "SELECT count(*) FROM outside.raw.orders o JOIN outside.raw.customers c ON o.customer = c.id"
    assert session.sql(joined).collect()[0][0] == 100
    for table in ("secret.hidden", "secret.absent"):
        with pytest.raises(PySparkException, match="TABLE_OR_VIEW_NOT_FOUND"):
            session.sql(f"SELECT * FROM outside.{table}")
    for text in (
        "INSERT INTO outside.raw.customers VALUES (9, 'nobody')",
        "DELETE FROM outside.raw.customers WHERE id = 1",
        "CREATE TABLE outside.raw.mine (id INT)",
        "DROP TABLE outside.raw.customers",
        "ALTER TABLE outside.raw.customers RENAME TO outside.raw.mine",
        "ALTER TABLE outside.raw.customers ADD COLUMN x INT",
        "CREATE NAMESPACE outside.mine",
    ):
        with pytest.raises(Exception, match=r"read only|does not support"):
            session.sql(text).collect()
    assert session.sql("SELECT count(*) FROM outside.raw.customers").collect()[0][0] == 5
