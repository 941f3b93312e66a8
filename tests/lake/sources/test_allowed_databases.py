"""Which databases may be opened, and how: by the setting of the installation and the address that was checked."""

from __future__ import annotations

import socket
from dataclasses import replace
from typing import Any

import pytest

from lakehold.connectors.database.jdbc import JdbcDatabase, open_database
from lakehold.connectors.database.settings import DatabaseSettings
from lakehold.connectors.registry import ConnectorEnvironment
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.jdbc_address import DRIVER_CLASSES
from lakehold.kit.settings import load_settings

MYSQL = "jdbc:mysql://db.shop:3306?connectTimeout&sslMode=REQUIRED"


def open_with(
    allowed: str,
    address: str,
    *,
    private: bool = False,
    **settings: Any,  # noqa: ANN401 - of several types
) -> JdbcDatabase:
    environment = ConnectorEnvironment(
        load_settings(databases=allowed, private_addresses=private), {"password": "hunter2"}
    )
    return open_database(environment, DatabaseSettings(address=address, **settings))


def test_a_driver_gets_the_installations_class_and_safe_properties_last() -> None:
    found = open_with(MYSQL, "jdbc:mysql://DB.shop/x?connecttimeout=5", user="u").options
    assert (found["url"], found["driver"]) == ("jdbc:mysql://db.shop:3306/x", "com.mysql.cj.jdbc.Driver")
    assert (found["connectTimeout"], found["sslMode"], found["user"]) == ("5", "REQUIRED", "u")
    assert {found[name] for name in ("allowLoadLocalInfile", "autoDeserialize", "allowUrlInLocalInfile")} == {"false"}


@pytest.mark.parametrize("product", ["mysql", "mariadb", "mysql+srv"])
def test_every_spelling_of_a_product_has_its_safe_properties(product: str) -> None:
    allowed = f"jdbc:{product}://db.shop:3306?driver=com.mysql.cj.jdbc.Driver"
    found = open_with(allowed, f"jdbc:{product}://db.shop:3306/x").options
    assert (found["allowLoadLocalInfile"], found["allowMultiQueries"]) == ("false", "false")
    with pytest.raises(InvalidInputError, match="the platform sets it"):
        open_with(f"{allowed}&AllowLoadLocalInfile", f"jdbc:{product}://db.shop:3306/x")


@pytest.mark.parametrize("product", [*DRIVER_CLASSES, "mysql+srv", "postgresql+x", "trino", "trino+x"])
def test_a_query_needs_a_verified_read_only_mode_or_a_user_who_can_only_read(product: str) -> None:
    place = {"sqlite": "/srv/shop.sqlite", "oracle": "thin:@//h:1521/x", "sqlserver": "//h:1;databaseName=x"}
    address = f"jdbc:{product}:{place.get(product, '//h:3306/x')}"
    driver = DRIVER_CLASSES.get(product.partition("+")[0], "com.example.Driver")
    entry = f"{address.partition(';')[0]}?driver={driver}&readOnlyUsers=reader,other"
    found = {user: open_with(entry, address, user=user) for user in ("writer", "reader", "other", "")}
    forced = replace(found["writer"], read_only=True).options.items() - found["writer"].options.items()
    is_verified = bool({name for name, _ in forced} & {"sessionInitStatement", "open_mode"})
    assert is_verified == (product not in {"sqlserver", "oracle", "trino", "trino+x"})
    assert {user for user, each in found.items() if each.takes_queries} == (
        set(found) if is_verified else {"reader", "other"}
    )


def test_mysql_is_read_only_from_the_first_statement_and_asked() -> None:
    for product in ("mysql", "mariadb", "mysql+srv"):
        allowed = f"jdbc:{product}://db.shop:3306?driver=com.mysql.cj.jdbc.Driver"
        found = open_with(allowed, f"jdbc:{product}://db.shop:3306/x")
        options = replace(found, read_only=True).options
        assert "transaction_read_only" in options["sessionVariables"]
        assert "not_read_only" in options["sessionInitStatement"]
        with pytest.raises(InvalidInputError, match="the platform sets it"):
            open_with(f"{allowed}&sessionvariables", f"jdbc:{product}://db.shop:3306/x")


@pytest.mark.parametrize("product", ["mysql", "mariadb"])
@pytest.mark.parametrize("driver", ["com.mysql.cj.jdbc.Driver", "org.mariadb.jdbc.Driver"])
def test_spark_is_given_mysqls_scheme_for_either_driver(product: str, driver: str) -> None:
    """By another one Spark takes a dialect that quotes with ", and reads the names of columns as their values."""
    found = open_with(f"jdbc:{product}://db.shop:3306?driver={driver}", f"jdbc:{product}://db.shop/x").options
    flag = "?permitMysqlScheme" if "mariadb" in driver else ""
    assert (found["url"], found["driver"]) == (f"jdbc:mysql://db.shop:3306/x{flag}", driver)


def test_no_folder_can_be_permitted_whose_files_a_server_may_ask_for() -> None:
    with pytest.raises(InvalidInputError, match="the platform sets it"):
        open_with(f"{MYSQL}&allowLoadLocalInfileInPath", "jdbc:mysql://db.shop:3306/x")


def test_a_property_of_the_installation_is_not_given_in_another_spelling_too() -> None:
    """Spark's options know no case: which of two were taken would be a matter of luck."""
    allowed = "jdbc:postgresql://localhost:5432?SslMode=verify-ca"
    found = open_with(allowed, "jdbc:postgresql://localhost:5432/x?sslmode=disable").options
    assert {name: value for name, value in found.items() if name.lower() == "sslmode"} == {"SslMode": "verify-ca"}


@pytest.mark.parametrize(
    ("address", "settings", "said"),
    [
        ("jdbc:mysql://db.shop.attacker.example/x", {}, "not allowed here"),
        ("jdbc:mysql://db.shop:3307/x", {}, "not allowed here"),
        ("jdbc:mysql://db.shop,evil/x", {}, "not allowed here"),
        ("jdbc:mysql://db.shop@evil/x", {}, "not allowed here"),
        ("jdbc:sqlite:/srv/x", {}, "not allowed here"),
        ("jdbc:derby:memory:x;create=true", {}, "not allowed here"),
        ("jdbc:mysql://db.shop/x", {"driver": "org.evil.Driver"}, "chosen by the installation"),
        ("jdbc:mysql://db.shop/x", {"properties": {"autoDeserialize": "true"}}, "may not be told"),
        ("jdbc:mysql://db.shop/x", {"properties": {"AllowLoadLocalInfile": "true"}}, "may not be told"),
        ("jdbc:mysql://db.shop/x?allow%4coadLocalInfile=true", {}, "may not be told"),
        ("jdbc:mysql://db.shop/x", {"properties": {"sessionInitStatement": "DROP"}}, "may not be told"),
        ("jdbc:postgresql://8.8.8.8/x", {"driver": "org.sqlite.JDBC"}, "chosen by the installation"),
        ("jdbc:postgresql://8.8.8.8/x?socketFactory=x", {}, "not allowed"),
        ("jdbc:postgresql://127.0.0.1/x", {}, "Connections to this address are not allowed"),
        ("jdbc:postgresql://8.8.8.8,[::1]/x", {}, "Connections to this address are not allowed"),
        ("jdbc:postgresql:x", {}, "Connections to this address are not allowed"),
        ("jdbc:postgresql://0x7f.1/x", {}, "Connections to this address are not allowed"),
    ],
)
def test_nothing_else_is_opened(address: str, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        open_with(MYSQL, address, **settings)


def test_a_name_is_resolved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(["8.8.8.8", "127.0.0.1"])

    def resolve(_host: str, port: int, **_: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    assert open_with("", "jdbc:postgresql://rebind.example/x").url == "jdbc:postgresql://8.8.8.8:5432/x"


@pytest.mark.parametrize("query", ["ssl=true", "sslmode=verify-full"])
def test_a_certificate_is_compared_with_the_name_of_a_listed_host_only(
    query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"jdbc:postgresql://localhost:5432/x?{query}"
    with pytest.raises(InvalidInputError, match="certificate"):
        open_with("", address, private=True)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    listed = open_with("jdbc:postgresql://localhost:5432?sslrootcert=/srv/ca.crt", address)
    assert listed.url == "jdbc:postgresql://localhost:5432/x"
    assert listed.options["sslrootcert"] == "/srv/ca.crt"
