"""Rows into a real PostgreSQL, and into SQLite as one that nothing is known of: once, whole, and with no loss."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from pyspark.sql import DataFrame, SparkSession

from lakehold.connectors.database.destination import JdbcDestination, deliver_rows
from lakehold.connectors.database.jdbc import JdbcDatabase
from lakehold.connectors.database.settings import DeliveryMode
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError, UnavailableError
from lakehold.lake.errors import DataError, DeliveryError
from tests import postgres

NASTY = 'or"der; DROP TABLE x --'


@pytest.fixture
def there(server: postgres.Server) -> Iterator[psycopg.Connection]:
    """The other side: a database of its own."""
    name = server.create()
    with psycopg.connect(server.url(name), autocommit=True) as connection:
        yield connection
    server.drop(name)


@pytest.fixture
def database(there: psycopg.Connection) -> JdbcDatabase:
    info = there.info
    return JdbcDatabase(f"jdbc:postgresql://127.0.0.1:{info.port}/{info.dbname}", postgres.USER, "geheim")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "there.sqlite"


def ask(there: psycopg.Connection, text: str) -> list[tuple[object, ...]]:
    return there.execute(text.encode()).fetchall()


def tables(there: psycopg.Connection) -> list[object]:
    found = ask(there, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1")
    return [name for (name,) in found]


def people(spark: SparkSession, *names: tuple[int, str | None]) -> DataFrame:
    values = ", ".join(f"({number}, {'NULL' if name is None else repr(name)})" for number, name in names)
    return spark.sql(f"SELECT id, CAST(name AS string) AS name FROM VALUES {values} AS t(id, name)")


def test_what_is_ours_is_replaced_and_what_is_not_is_left_alone(
    spark: SparkSession, there: psycopg.Connection, database: JdbcDatabase
) -> None:
    ours = JdbcDestination(database, NASTY, mode=DeliveryMode.OVERWRITE, only_own=True)
    assert deliver_rows(people(spark, (1, "ann"), (2, "bo")), ours, "m1").rows == 2
    assert deliver_rows(people(spark, (3, "cy")), ours, "m2").rows == 1
    quoted = '"or""der; DROP TABLE x --"'
    assert ask(there, f"SELECT * FROM {quoted}") == [(3, "cy")]
    there.execute("CREATE TABLE own (id integer, name text)")
    there.execute("INSERT INTO own VALUES (7, 'di')")
    with pytest.raises(ConflictError, match="There is a table own already, which was not created by Lakehold"):
        deliver_rows(people(spark, (4, "ed")), replace(ours, table="own"), "m3")
    assert ask(there, "SELECT * FROM own") == [(7, "di")]
    # As somebody leaves it who dies when it is made, and before its rows are there.
    there.execute("CREATE TABLE begun (id integer, name text)")
    there.execute("INSERT INTO lakehold_deliveries VALUES ('ours', 'begun', now(), 0)")
    assert deliver_rows(people(spark, (5, "fay")), replace(ours, table="begun"), "m4").rows == 1
    # It was dropped: it is made anew.
    there.execute("DROP TABLE begun")
    assert deliver_rows(people(spark, (6, "gil")), replace(ours, table="begun"), "m5").rows == 1
    assert ask(there, "SELECT * FROM begun") == [(6, "gil")]


def test_appending_makes_the_table_and_brings_rows_once(
    spark: SparkSession, there: psycopg.Connection, database: JdbcDatabase
) -> None:
    how = JdbcDestination(database, NASTY)
    rows = spark.sql(
        """SELECT 1 AS id, 'Zoë' AS `na"me`, 12.50BD AS price, timestamp'2026-03-29 01:30:00.123456' AS at, true AS yes,
        named_struct('a', 1) AS nested, X'00ff' AS raw, date'2026-03-29' AS day, NULL AS nothing"""
    )
    done = deliver_rows(rows, how, "m1")
    assert (done.rows, done.places, done.sure, done.again) == (1, (NASTY,), True, False)
    quoted = '"or""der; DROP TABLE x --"'
    ((at, *row),) = ask(there, f'SELECT at AT TIME ZONE \'UTC\', id, "na""me", price, yes, nested, raw FROM {quoted}')
    assert str(at) == "2026-03-29 01:30:00.123456"
    assert [str(value) for value in row] == ["1", "Zoë", "12.50", "True", '{"a":1}', "b'\\x00\\xff'"]
    again = deliver_rows(rows, how, "m1")
    assert (again.rows, again.again) == (1, True)
    # In other hands: the same mark, another table.
    assert not deliver_rows(people(spark, (1, "ann")), JdbcDestination(database, "people"), "m1").again
    assert deliver_rows(rows.limit(0), how, "m2").rows == 0
    assert deliver_rows(rows, how, "m" * 1000).rows == 1
    assert ask(there, f"SELECT count(*) FROM {quoted}") == [(2,)]
    assert tables(there) == ["lakehold_deliveries", NASTY, "people"]
    marks = ask(there, "SELECT target, rows, at <= now() FROM lakehold_deliveries WHERE mark = 'm1' ORDER BY 1")
    assert marks == [(NASTY, 1, True), ("people", 1, True)]


def test_rows_fit_the_columns_that_are_there(
    spark: SparkSession, there: psycopg.Connection, database: JdbcDatabase
) -> None:
    there.execute("CREATE SCHEMA sales")
    there.execute(
        'CREATE TABLE sales.facts ("ID" uuid, doc jsonb, n int, price numeric(6,2), other numeric,'
        " made text DEFAULT now())"
    )
    how = JdbcDestination(database, "facts", "sales")
    uid = "7f8e9d0c-1111-2222-3333-444455556666"
    deliver_rows(
        spark.sql(f"SELECT 1.25BD AS price, '{uid}' AS id, map('a', 1) AS doc, 7L AS n, 0.5D AS other"), how, "m1"
    )
    ((found, made),) = ask(there, 'SELECT ("ID", doc, n, price, other)::text, made IS NOT NULL FROM sales.facts')
    assert (found, made) == (f'({uid},"{{""a"": 1}}",7,1.25,0.5)', True)
    for text, said in (
        ("1 AS n, 2 AS extra", "sales.facts has no column for extra"),
        ("1.5D AS n", "would lose values: n is double and the column int4"),
        ("1.255BD AS price", r"price is decimal\(4,3\) and the column numeric"),
        ("5000000000L AS n", "does not accept the rows: .*out of range"),
        ("'x' AS id", "does not accept the rows: .*invalid input syntax for type uuid"),
    ):
        with pytest.raises(DataError, match=said) as caught:
            deliver_rows(spark.sql(f"SELECT {text}"), how, f"bad {text}")
        assert "org." not in str(caught.value)
    assert ask(there, "SELECT count(*) FROM sales.facts") == [(1,)]
    left = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'sales'"
    assert ask(there, left) == [(2,)]


def test_overwriting_and_upserting_are_seen_whole_or_not_at_all(
    spark: SparkSession, there: psycopg.Connection, database: JdbcDatabase
) -> None:
    how = JdbcDestination(database, "people", mode=DeliveryMode.UPSERT, keys=("ID",))
    deliver_rows(people(spark, (1, "ann"), (2, "bob")), how, "m1")
    deliver_rows(people(spark, (2, "rob"), (3, None)), how, "m2")
    everybody = "SELECT id, name FROM people ORDER BY id"
    assert ask(there, everybody) == [(1, "ann"), (2, "rob"), (3, None)]
    assert deliver_rows(people(spark, (2, "zed")), how, "m2").again
    with pytest.raises(DataError, match="1 keys appear more than once"):
        deliver_rows(people(spark, (4, "x"), (4, "y")), how, "m3")
    with pytest.raises(DataError, match="1 rows have no name"):
        deliver_rows(people(spark, (4, None)), replace(how, keys=("name",)), "m3")
    with pytest.raises(DataError, match="no unique index over name"):
        deliver_rows(people(spark, (4, "x")), replace(how, keys=("name",)), "m3")
    with pytest.raises(DataError, match="'nr' is not a field"):
        deliver_rows(people(spark, (4, "x")), replace(how, keys=("nr",)), "m3")
    # A row that the table refuses takes all others and the mark with it.
    there.execute("ALTER TABLE people ADD CHECK (name <> 'bad')")
    over = JdbcDestination(database, "people", mode=DeliveryMode.OVERWRITE)
    with pytest.raises(DataError, match="people_name_check"):
        deliver_rows(people(spark, (8, "good"), (9, "bad")), over, "m3")
    assert ask(there, everybody) == [(1, "ann"), (2, "rob"), (3, None)]
    assert deliver_rows(people(spark, (8, "good")), over, "m3").rows == 1
    assert ask(there, everybody) == [(8, "good")]
    assert deliver_rows(people(spark, (9, "more")), over, "m3").again
    assert tables(there) == ["lakehold_deliveries", "people"]


def test_a_connection_that_dies_half_way_leaves_nothing_that_the_next_try_does_not_end(
    spark: SparkSession, there: psycopg.Connection, database: JdbcDatabase
) -> None:
    """It dies in the middle of the transaction, and so cannot even end its staging table."""
    how = JdbcDestination(database, "people", mode=DeliveryMode.OVERWRITE)
    deliver_rows(people(spark, (1, "ann")), how, "m1")
    there.execute(
        "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$"
    )
    there.execute("CREATE TRIGGER die BEFORE INSERT ON people EXECUTE FUNCTION die()")
    with pytest.raises(UnavailableError, match="The table people cannot be reached"):
        deliver_rows(people(spark, (2, "bob")), how, "m2")
    assert ask(there, "SELECT id FROM people") == [(1,)]
    assert len(tables(there)) == 3
    there.execute("DROP TRIGGER die ON people")
    assert not deliver_rows(people(spark, (2, "bob")), how, "m2").again
    assert ask(there, "SELECT id FROM people") == [(2,)]
    assert tables(there) == ["lakehold_deliveries", "people"]


def test_any_other_database_gets_its_rows_by_plain_sql(spark: SparkSession, file: Path) -> None:
    database = JdbcDatabase(f"jdbc:sqlite:file:{file}")
    how = JdbcDestination(database, NASTY, mode=DeliveryMode.UPSERT, keys=("id",), at_once=1)
    deliver_rows(people(spark, (1, "ann"), (2, "bob")), how, "m1")
    deliver_rows(people(spark, (2, "rob"), (3, "cat")), how, "m2")
    assert deliver_rows(people(spark, (2, "zed")), how, "m2").again
    quoted = '"or""der; DROP TABLE x --"'
    with sqlite3.connect(file) as there:
        assert there.execute(f"SELECT * FROM {quoted} ORDER BY 1").fetchall() == [(1, "ann"), (2, "rob"), (3, "cat")]
    there.close()
    deliver_rows(people(spark, (7, "sue")), replace(how, mode=DeliveryMode.OVERWRITE), "m3")
    deliver_rows(people(spark, (8, "tom")).select("id"), replace(how, mode=DeliveryMode.APPEND), "m4")
    deliver_rows(people(spark, (8, "tom")).select("id"), how, "m5")
    with sqlite3.connect(file) as there:
        assert there.execute(f"SELECT * FROM {quoted} ORDER BY 1").fetchall() == [(7, "sue"), (8, None)]
        assert there.execute("SELECT mark, rows FROM lakehold_deliveries ORDER BY 1").fetchall() == [
            *(("m1", 2), ("m2", 2), ("m3", 1), ("m4", 1), ("m5", 1))
        ]
        assert there.execute("SELECT count(*) FROM sqlite_master WHERE type = 'table'").fetchone() == (2,)
    there.close()


def test_a_database_that_is_not_there_or_does_not_know_us_is_told_of(
    spark: SparkSession, there: psycopg.Connection, database: JdbcDatabase
) -> None:
    there.execute("CREATE ROLE guest LOGIN")
    there.execute("CREATE TABLE secret (id int)")
    base, _, _ = database.url.rpartition("/")
    cases: list[tuple[JdbcDatabase, type[LakeholdError], str]] = [
        (replace(database, url="jdbc:postgresql://127.0.0.1:1/x"), UnavailableError, "cannot be reached"),
        (replace(database, url=f"{base}/nothing"), DeliveryError, 'database "nothing" does not exist'),
        (replace(database, user="nobody"), DeliveryError, "denied access: .*role … does not exist"),
        (replace(database, url="jdbc:nope://x", driver="no.such.Driver"), UnavailableError, "no driver no.such.Driver"),
        (replace(database, user="guest"), DeliveryError, "permission denied"),
    ]
    for other, error, said in cases:
        with pytest.raises(error, match=said) as caught:
            deliver_rows(people(spark, (1, "ann")), JdbcDestination(other, "secret"), "m")
        assert "geheim" not in str(caught.value)
        assert "org.postgresql" not in str(caught.value)
    assert ask(there, "SELECT * FROM secret") == []
    assert "geheim" not in repr(database)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (JdbcDestination(JdbcDatabase("postgresql://x/y"), "t"), "not a JDBC address"),
        (JdbcDestination(JdbcDatabase("jdbc:postgresql://x/y?password=p"), "t"), "contains a password"),
        (JdbcDestination(JdbcDatabase("jdbc:postgresql://u:p@x/y"), "t"), "contains a password"),
        (
            JdbcDestination(JdbcDatabase("jdbc:postgresql://x/y?socketFactory=evil.Class"), "t"),
            "not allowed: socketFactory",
        ),
        (
            JdbcDestination(JdbcDatabase("jdbc:postgresql://x/y", properties={"loggerFile": "/x"}), "t"),
            "not allowed: loggerFile",
        ),
        (JdbcDestination(JdbcDatabase("jdbc:unknown://x/y"), "t"), "driver of this database is not known"),
        (JdbcDestination(JdbcDatabase("jdbc:postgresql://x/y"), ""), "must not be empty"),
        (JdbcDestination(JdbcDatabase("jdbc:postgresql://x/y"), "t", "a\nb"), "control character"),
        (JdbcDestination(JdbcDatabase("jdbc:postgresql://x/y"), "t", mode=DeliveryMode.UPSERT), "keys are needed"),
    ],
)
def test_settings_that_lead_nowhere_are_refused(how: JdbcDestination, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        how.check()
