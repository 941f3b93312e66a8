"""Rows from real databases: PostgreSQL, and SQLite as one of those whose driver somebody added."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from time import monotonic

import psycopg
import pytest
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from lakehold.connectors.database import jdbc
from lakehold.connectors.database.jdbc import JdbcDatabase
from lakehold.connectors.database.settings import TablePartitioning
from lakehold.connectors.database.source import JdbcSource
from lakehold.connectors.sources.field_types import StreamField
from lakehold.connectors.sources.source import ReadSpan, highest_cursor
from lakehold.kit.errors import InvalidInputError, LakeholdError, NotFoundError, UnavailableError
from lakehold.kit.jdbc_address import DRIVER_CLASSES
from lakehold.lake.errors import DataError, SourceError
from tests import postgres
from tests.lake.sources.files import sorted_rows

SECRET = "hunter2-and-more"
TABLES = """
CREATE TABLE orders (id bigint PRIMARY KEY, price numeric(10,2), at timestamp, zoned timestamptz, day date, note text,
    tags text[], data jsonb);
INSERT INTO orders SELECT n, n * 1.1, timestamp '2024-01-01' + n * interval '1 hour',
    timestamptz '2024-01-01 00:00:00+00' + n * interval '1 hour', date '2024-01-01' + n, 'note ' || n,
    ARRAY['a', 'b'], '{"n": 1}' FROM generate_series(1, 100) n;
INSERT INTO orders (id) VALUES (101);
CREATE SCHEMA "My ""Shop";
CREATE TABLE "My ""Shop"."a.b ""c" ("Id" int, "with space" text, PRIMARY KEY ("with space", "Id"));
INSERT INTO "My ""Shop"."a.b ""c" VALUES (1, 'x');
CREATE VIEW "My ""Shop".seen AS SELECT * FROM orders;
CREATE ROLE guarded LOGIN PASSWORD 'hunter2-and-more';
"""


@pytest.fixture(scope="module")
def shop(server: postgres.Server) -> Iterator[JdbcDatabase]:
    name = server.create()
    with psycopg.connect(server.url(name), autocommit=True) as connection:
        connection.execute(TABLES.encode())
        _ask_for_passwords(connection)
    yield JdbcDatabase(f"jdbc:postgresql://127.0.0.1:{server.port}/{name}", postgres.USER)
    with psycopg.connect(server.url(name), autocommit=True) as connection:
        connection.execute("DROP ROLE guarded")
    server.drop(name)


def _ask_for_passwords(connection: psycopg.Connection) -> None:
    """Of one user; the server lets everybody else in."""
    row = connection.execute("SELECT pg_read_file(current_setting('hba_file')), current_setting('hba_file')").fetchone()
    assert row is not None
    lines = f"host all guarded 127.0.0.1/32 scram-sha-256\n{row[0]}".splitlines()
    kept = [line for line in lines if line and not line.startswith("#")]
    connection.execute("CREATE TEMP TABLE hba (line text)")
    connection.cursor().executemany("INSERT INTO hba VALUES (%s)", [(line,) for line in kept])
    connection.execute(f"COPY hba TO '{row[1]}'".encode())
    connection.execute("SELECT pg_reload_conf()")


def test_tables_and_views_are_streams(spark: SparkSession, shop: JdbcDatabase) -> None:
    assert [(each.name, each.keys) for each in JdbcSource(shop).streams()] == [("public.orders", ("id",))]
    named = JdbcSource(shop, schemas=('My "Shop', "public"))
    assert [(each.name, each.keys) for each in named.streams()] == [
        ('My "Shop.a.b "c', ("with space", "Id")),
        ('My "Shop.seen', ()),
        ("public.orders", ("id",)),
    ]
    sample = named.sample('My "Shop.a.b "c', 5)
    assert (sample.fields, sample.rows) == (
        (StreamField("Id", "int"), StreamField("with space", "string")),
        ((1, "x"),),
    )
    with pytest.raises(NotFoundError, match="no 'orders; DROP' there"):
        named.read(spark, "orders; DROP")


def test_a_sample_that_takes_too_long_is_given_up_by_the_database(shop: JdbcDatabase) -> None:
    source = JdbcSource(replace(shop, sample_seconds=1), queries={"q": "SELECT pg_sleep(600)"})
    with pytest.raises(LakeholdError, match="canceling statement"):
        source.sample("q", 1)


def test_a_table_is_read_in_parts(spark: SparkSession, shop: JdbcDatabase) -> None:
    source = JdbcSource(shop, parts={"public.orders": TablePartitioning("id", 4)})
    found = source.read(spark, "public.orders").rows
    assert found.rdd.getNumPartitions() == 4
    assert found.count() == 101
    kinds = {field.name: field.dataType.simpleString() for field in found.schema.fields}
    assert (kinds["price"], kinds["at"], kinds["zoned"], kinds["data"], kinds["tags"]) == (
        *("decimal(10,2)", "timestamp_ntz", "timestamp", "string", "array<string>"),
    )
    for column in ("day", "zoned", "at"):
        parted = (
            replace(source, parts={"public.orders": TablePartitioning(column, 3)}).read(spark, "public.orders").rows
        )
        assert (parted.rdd.getNumPartitions(), parted.count()) == (3, 101)
    for column, said in (("note", "not a number, date or timestamp"), ("gone", "no column 'gone'")):
        with pytest.raises(DataError, match=said):
            replace(source, parts={"public.orders": TablePartitioning(column, 3)}).read(spark, "public.orders")


@pytest.mark.parametrize("column", ["id", "day", "at"])
def test_every_part_is_read_with_the_properties_of_the_driver(
    spark: SparkSession, shop: JdbcDatabase, column: str
) -> None:
    """Their names have capitals, and the driver takes them for unknown ones without."""
    query = "SELECT orders.*, current_setting('application_name') AS name FROM orders WHERE at IS NOT NULL"
    source = JdbcSource(shop, parts={"q": TablePartitioning(column, 3)}, queries={"q": query})
    rows = source.read(spark, "q").rows
    assert rows.rdd.getNumPartitions() == 3
    assert {row["name"] for row in rows.select("name").collect()} == {"lakehold"}


@pytest.mark.parametrize("cursor", ["id", "price", "at", "zoned", "day", "note"])
def test_only_what_is_new_is_asked_for(
    spark: SparkSession, shop: JdbcDatabase, cursor: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = JdbcSource(shop, parts={"public.orders": TablePartitioning("id", 2)})
    found = source.read(spark, "public.orders").rows
    middle = highest_cursor(found.filter("id <= 90"), cursor)
    assert middle is not None
    new = source.read(spark, "public.orders", ReadSpan(cursor, middle)).rows
    again = source.read(spark, "public.orders", ReadSpan(cursor, middle, including=True)).rows
    # The last one has an id alone; as text, the note of 100 comes before that of 90.
    assert new.count() == {"id": 11, "note": 9}.get(cursor, 10)
    assert again.count() == new.count() + 1
    new.explain()
    pushed = f"*GreaterThan({cursor}," in capsys.readouterr().out
    assert pushed == (cursor != "note")


def test_another_driver_reads_too(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "other.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)")
        connection.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    connection.close()
    source = JdbcSource(JdbcDatabase(f"jdbc:sqlite:{file}", driver="org.sqlite.JDBC"))
    assert [(each.name, each.keys) for each in source.streams()] == [("t", ("id",))]
    assert sorted_rows(source.read(spark, "t", ReadSpan("id", "1")).rows) == [(2, "b")]


def test_what_is_wrong_is_told_soon_and_without_the_password(spark: SparkSession, shop: JdbcDatabase) -> None:
    assert spark is not None
    guarded = replace(shop, user="guarded", password=SECRET)
    JdbcSource(guarded).check()
    cases: list[tuple[JdbcDatabase, type[LakeholdError], str]] = [
        (replace(guarded, password=f"not {SECRET}"), SourceError, "denied access.*password"),
        (
            replace(shop, url="jdbc:postgresql://nowhere.invalid/x", password=SECRET),
            UnavailableError,
            "host is unknown",
        ),
        (replace(shop, url="jdbc:postgresql://127.0.0.1:1/x", password=SECRET), UnavailableError, "cannot be reached"),
        (replace(shop, url=shop.url + "x", password=SECRET), NotFoundError, "does not exist"),
        (replace(shop, driver="no.such.Driver"), SourceError, "driver that is not there"),
        (replace(shop, driver="java.lang.String"), SourceError, "driver that is not there"),
        (replace(shop, driver="org.sqlite.JDBC"), SourceError, "driver"),
        (replace(shop, url=f"{shop.url}?password={SECRET}"), InvalidInputError, "contains a password"),
        (replace(shop, url=f"{shop.url}?socketFactory=x"), InvalidInputError, "not allowed: socketFactory"),
    ]
    begun = monotonic()
    for database, kind, said in cases:
        with pytest.raises(kind, match=said) as error:
            JdbcSource(database).check()
        assert SECRET not in str(error.value)
        assert "\n" not in str(error.value)
        assert not any(word in str(error.value) for word in ("nowhere", "127.0.0.1", '"guarded"'))
    assert monotonic() - begun < 60
    with pytest.raises(SourceError, match="denied read access"):
        JdbcSource(guarded).sample("public.orders", 1)
    assert SECRET not in repr(guarded)


def test_moments_do_not_depend_on_the_zone_of_the_database(spark: SparkSession, shop: JdbcDatabase) -> None:
    rows = JdbcSource(shop).read(spark, "public.orders", ReadSpan("zoned", "2024-01-05T03:00:00.000000Z")).rows
    assert sorted_rows(rows.select("at")) == [(datetime(2024, 1, 5, 4),)]  # noqa: DTZ001 - it has none


WIPE = """CREATE TABLE wiped (id int);
INSERT INTO wiped VALUES (1), (2);
CREATE FUNCTION wipe() RETURNS int LANGUAGE sql AS 'DELETE FROM wiped; SELECT 1';
CREATE FUNCTION planned() RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN wipe(); END';
CREATE FUNCTION unlocked() RETURNS int LANGUAGE plpgsql AS
    'BEGIN PERFORM set_config(''transaction_read_only'', ''off'', true); DELETE FROM wiped; RETURN 1; END';
CREATE FUNCTION later() RETURNS int LANGUAGE plpgsql AS
    'BEGIN PERFORM set_config(''default_transaction_read_only'', ''off'', false); DELETE FROM wiped; RETURN 1; END';
"""


@pytest.fixture
def wiped(server: postgres.Server) -> Iterator[tuple[psycopg.Connection, JdbcDatabase]]:
    name = server.create()
    with psycopg.connect(server.url(name), autocommit=True) as connection:
        connection.execute(WIPE.encode())
        yield connection, JdbcDatabase(f"jdbc:postgresql://127.0.0.1:{server.port}/{name}", postgres.USER)
    server.drop(name)


def test_a_query_cannot_write(spark: SparkSession, wiped: tuple[psycopg.Connection, JdbcDatabase]) -> None:
    there, database = wiped
    # A role's own default does not go before ours.
    there.execute(f"ALTER DATABASE {there.info.dbname} SET default_transaction_read_only = off".encode())
    for name in ("wipe", "planned", "unlocked", "later"):
        for query in (f"SELECT {name}() AS n", f"SELECT * FROM (SELECT {name}() AS n) q WHERE n > 0"):
            source = JdbcSource(database, queries={"q": query})
            with pytest.raises(LakeholdError, match=r"read-only|read-write"):
                source.sample("q", 5)
            with pytest.raises((LakeholdError, Py4JError)):
                source.read(spark, "q").rows.collect()
            assert there.execute("SELECT count(*) FROM wiped").fetchone() == (2,), query
    asked = JdbcSource(database, queries={"q": "SELECT current_setting('transaction_read_only') AS said"})
    assert asked.sample("q", 1).rows == (("on",),)


def test_what_the_server_does_not_say_is_read_only_is_not_asked(
    wiped: tuple[psycopg.Connection, JdbcDatabase], spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, database = wiped
    # As if something between us and the server had left the options out.
    monkeypatch.setattr(jdbc, "_READ_ONLY_PROPERTIES", {})
    # The second one is run when it is planned, that is when Spark asks for the fields.
    for name in ("wipe", "planned"):
        source = JdbcSource(database, queries={"q": f"SELECT {name}() AS n"})
        with pytest.raises(LakeholdError, match="not_read_only"):
            source.sample("q", 5)
        with pytest.raises(LakeholdError, match="not_read_only"):
            source.read(spark, "q")
        assert there.execute("SELECT count(*) FROM wiped").fetchone() == (2,), name


def test_a_query_is_refused_where_nothing_makes_sure_that_it_only_reads(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "other.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
        connection.execute("INSERT INTO t VALUES (7)")
    connection.close()
    source = JdbcSource(
        JdbcDatabase(f"jdbc:sqlite:{file}", driver="org.sqlite.JDBC"), queries={"q": "SELECT id FROM t"}
    )
    assert source.sample("q", 5).rows == ((7,),)
    # As one whose driver may not know how a file is opened to be read.
    monkeypatch.setitem(DRIVER_CLASSES, "sqlite", "another.Driver")
    for read in (lambda: source.sample("q", 5), lambda: source.read(spark, "q")):
        with pytest.raises(InvalidInputError, match=r"only reads this database.*readOnlyUsers"):
            read()
    assert source.sample("t", 5).rows == ((7,),)
    listed = replace(source, database=replace(source.database, user_only_reads=True))
    assert listed.sample("q", 5).rows == ((7,),)


def test_a_file_is_opened_to_be_read_and_loads_no_code(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "other.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    connection.close()
    properties = {"enable_load_extension": "true", "open_mode": "6"}
    database = JdbcDatabase(f"jdbc:sqlite:{file}", properties=properties)
    source = JdbcSource(database, queries={"q": f"SELECT load_extension('{tmp_path}/evil.so') AS n"})
    with pytest.raises(LakeholdError, match="not authorized"):
        source.sample("q", 1)
    with source._connect(spark) as about, pytest.raises(Py4JError, match="readonly"):
        about.execute("INSERT INTO t VALUES (1)")
    gone = tmp_path / "gone.sqlite"
    with pytest.raises(LakeholdError):
        JdbcSource(JdbcDatabase(f"jdbc:sqlite:{gone}")).check()
    assert not gone.exists()
