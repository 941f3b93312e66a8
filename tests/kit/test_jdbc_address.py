"""Addresses of databases: a driver gets one that is written anew, and only of databases that are named exactly."""

from __future__ import annotations

import pytest

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.jdbc_address import parse_address, parse_allowed, permitted_properties
from lakehold.kit.settings import load_settings


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("jdbc:postgresql://a,b:5433/shop?ssl=true", "jdbc:postgresql://a:5432,b:5433/shop"),
        ("jdbc:postgresql:name", "jdbc:postgresql://localhost:5432/name"),
        ("jdbc:postgresql://[::1]/sh%6fp", "jdbc:postgresql://[::1]:5432/shop"),
        ("jdbc:postgresql://h/a%3Fb%2Fc", "jdbc:postgresql://h:5432/a%3Fb%2Fc"),
        ("jdbc:mysql://DB.Example./shop", "jdbc:mysql://db.example:3306/shop"),
        ("jdbc:sqlite:file:/srv/shop.sqlite?cache=shared", "jdbc:sqlite:/srv/shop.sqlite"),
        ("jdbc:oracle:thin:@h:1521:sid", "jdbc:oracle:thin:@h:1521:sid"),
        ("jdbc:oracle:thin:@//h/shop.example", "jdbc:oracle:thin:@//h:1521/shop.example"),
        ("jdbc:sqlserver://h;databaseName=shop;encrypt=true", "jdbc:sqlserver://h:1433;databaseName=shop"),
        ("jdbc:trino://h:8080/hive", "jdbc:trino://h:8080/hive"),
    ],
)
def test_an_address_is_written_anew_without_its_properties(text: str, url: str) -> None:
    assert parse_address(text).url == url


@pytest.mark.parametrize(
    "text",
    [
        "jdbc:mysql://root:pw@h:3306/shop",
        "jdbc:mysql://root@h:3306/shop",
        "jdbc:mysql://(host=h,port=3306,allowLoadLocalInfile=true)/shop",
        "jdbc:mysql://address=(host=h)(port=3306)/shop",
        "jdbc:mysql:loadbalance://h:3306/shop",
        "jdbc:mysql://h:3306/shop;x",
        "jdbc:mysql://h%2eevil:3306/shop",
        "jdbc:mysql://h:3306\\@evil/shop",
        "jdbc:mysql://h:3306/shop/../x",
        "jdbc:mysql://h:3306/shop%00",
        "jdbc:mysql://h:3306/shop?a=1&A=2",
        "jdbc:mysql://h:3306/shop?%00=1",
        "jdbc:mysql://h:3306/shop?a b=1",
        "jdbc:postgresql://h:5432:5433/shop",
        "jdbc:postgresql://h%20/shop",
        "jdbc:postgresql://[fe80::1%25eth0]/shop",
        "jdbc:sqlite::memory:",
        "jdbc:sqlite::resource:http://127.0.0.1/x.db",
        "jdbc:sqlite:shop.sqlite",
        "jdbc:sqlite:/srv/../etc/x",
        "jdbc:sqlite:/srv//x",
        "jdbc:sqlite:/srv/%2e%2e/x",
        "jdbc:oracle:thin:@ldap://evil/x",
        "jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(HOST=evil)))",
        "jdbc:oracle:thin:u/p@//h:1521/x",
        "jdbc:oracle:oci:@h",
        "jdbc:sqlserver://h\\instance:1433",
        "jdbc:sqlserver://h:1433;databaseName=a;database=b",
        "jdbc:h2:mem:x;INIT=RUNSCRIPT FROM 'http://127.0.0.1/x.sql'",
        "jdbc:derby:memory:x;create=true",
        "JDBC:mysql://h:3306/x",
        "jdbc:MySQL://h:3306/x",
        "jdbc:mysql://h:3306/" + "a" * 5_000,
    ],
)
def test_whatever_else_an_address_can_carry_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        parse_address(text)


@pytest.mark.parametrize(
    ("entry", "address", "allowed"),
    [
        ("jdbc:mysql://db.shop:3306", "jdbc:mysql://db.shop/any", True),
        ("jdbc:mysql://db.shop:3306", "jdbc:mysql://DB.shop:3306/any", True),
        ("jdbc:mysql://db.shop:3306", "jdbc:mysql://db.shop:3307/any", False),
        ("jdbc:mysql://db.shop:3306", "jdbc:mysql://db.shop.attacker.example/any", False),
        ("jdbc:mysql://db.shop:3306", "jdbc:mysql://db.shop,evil/any", False),
        ("jdbc:mysql://db.shop:3306", "jdbc:mariadb://db.shop:3306/any", False),
        ("jdbc:mysql://db.shop:3306/one", "jdbc:mysql://db.shop/one", True),
        ("jdbc:mysql://db.shop:3306/one", "jdbc:mysql://db.shop/oneself", False),
        ("jdbc:sqlite:/srv/a.sqlite", "jdbc:sqlite:file:/srv/a.sqlite", True),
        ("jdbc:sqlite:/srv/a.sqlite", "jdbc:sqlite:/srv/a.sqlite-wal", False),
        ("jdbc:sqlite:/srv/a, b.sqlite,jdbc:mysql://h:1", "jdbc:sqlite:/srv/a, b.sqlite", True),
    ],
)
def test_only_the_exact_database_is_allowed(entry: str, address: str, allowed: bool) -> None:
    assert any(each.matches(parse_address(address)) for each in parse_allowed(entry)) is allowed


def test_an_entry_names_the_driver_and_the_properties_that_may_be_set() -> None:
    text = "jdbc:mysql://h:3306?sslMode=REQUIRED&connectTimeout, jdbc:trino://h:8080?driver=io.trino.jdbc.TrinoDriver"
    mysql, trino = parse_allowed(text)
    assert (mysql.driver, trino.driver) == ("com.mysql.cj.jdbc.Driver", "io.trino.jdbc.TrinoDriver")
    assert (set(mysql.permitted), dict(mysql.fixed)) == ({"connectTimeout"}, {"sslMode": "REQUIRED"})
    address = parse_address("jdbc:mysql://h/x?CONNECTTIMEOUT=5")
    assert permitted_properties(address, {}, mysql.permitted) == {"connectTimeout": "5"}
    for name in ("allowLoadLocalInfile", "ALLOWLOADLOCALINFILE", "queryInterceptors", "sslMode", "url", "dbtable"):
        with pytest.raises(InvalidInputError, match="may not be told"):
            permitted_properties(parse_address(f"jdbc:mysql://h/x?{name}=true"), {}, mysql.permitted)
        with pytest.raises(InvalidInputError, match="may not be told"):
            permitted_properties(parse_address("jdbc:mysql://h/x"), {name: "true"}, mysql.permitted)
    with pytest.raises(InvalidInputError, match="given twice"):
        permitted_properties(address, {"connectTimeout": "6"}, mysql.permitted)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        # As releases before took them.
        ("jdbc:mysql://db.", r"names no host with its port.*jdbc:mysql://db.shop.internal:3306"),
        ("jdbc:mysql:", "names no database exactly"),
        ("jdbc:sqlite:", r"names no database exactly.*jdbc:sqlite:/srv/shop.sqlite"),
        ("jdbc:sqlite:/srv/", "names no database exactly"),
        ("mysql://h:3306", "names no database exactly"),
        ("jdbc:mysql://a:1,b:2", "names no host with its port"),
        ("jdbc:trino://h:8080", "has no driver class"),
        ("jdbc:mysql://h:3306?driver=x y", "has no driver class"),
        ("jdbc:h2:mem:x", "inside the worker"),
        ("jdbc:derby://h:1527", "inside the worker"),
        ("jdbc:sqlite:/srv/a.sqlite?enable_load_extension", "cannot permit enable_load_extension"),
        ("jdbc:sqlite:/srv/a.sqlite?Open_Mode=6", "cannot permit Open_Mode"),
        ("jdbc:mysql://h:3306?autodeserialize=true", "cannot permit autodeserialize"),
        ("jdbc:mysql://h:3306?sessionInitStatement", "cannot permit sessionInitStatement"),
        ("jdbc:mysql://h:3306?sessionVariables=transaction_read_only=0", "cannot permit sessionVariables"),
        ("jdbc:oracle:thin:@//h:1521/x?readOnlyUsers", "names no user.*readOnlyUsers=reporting"),
        ("jdbc:oracle:thin:@//h:1521/x?ReadOnlyUsers=a", "cannot permit ReadOnlyUsers"),
    ],
)
def test_a_setting_that_allows_more_than_it_says_is_refused(text: str, said: str) -> None:
    with pytest.raises(InvalidInputError, match=f"LAKEHOLD_DATABASES.*{said}"):
        load_settings(databases=text)
