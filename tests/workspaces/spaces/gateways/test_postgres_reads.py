"""What the process of a gateway reads from a real PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import psycopg
import pyarrow as pa
import pytest

from lakehold.connectors.database.copy_output import CopyOutput
from lakehold.workspaces.spaces.gateways.agent.postgres import PostgresSource
from tests import postgres


@pytest.fixture
def reader(server: postgres.Server, database: str) -> PostgresSource:
    return reader_of(server, database)


def reader_of(server: postgres.Server, database: str, **properties: str) -> PostgresSource:
    address = f"jdbc:postgresql://127.0.0.1:{server.port}/{database}"
    return PostgresSource({"address": address, "user": postgres.USER, "properties": properties})


def rows_of(reader: PostgresSource, stream: str) -> list[tuple[object, ...]]:
    with reader.connect() as connection:
        table = reader.need_table(connection, stream)
        batches = [batch for part in reader.parts(connection, table, {}, ()) for batch in part.batches]
    return [tuple(row.values()) for row in pa.Table.from_batches(batches).to_pylist()]


def test_a_row_of_nothing_but_null_is_a_row(source: psycopg.Connection, reader: PostgresSource) -> None:
    source.execute("CREATE TABLE one_column (t text)")
    source.execute("INSERT INTO one_column VALUES ('a'), (NULL), (''), (E'b\\n\\nc'), (NULL)")
    assert rows_of(reader, "public.one_column") == [("a",), (None,), ("",), ("b\n\nc",), (None,)]


def test_a_row_is_as_long_as_it_likes(source: psycopg.Connection, reader: PostgresSource) -> None:
    source.execute("CREATE TABLE long_rows (id int PRIMARY KEY, t text)")
    source.execute("INSERT INTO long_rows SELECT n, repeat('x', n * 3000000) FROM generate_series(1, 4) n")
    lengths = [(n, len(str(text))) for n, text in rows_of(reader, "public.long_rows")]
    assert lengths == [(n, n * 3_000_000) for n in range(1, 5)]


def test_other_encodings_arrive_as_text(server: postgres.Server, source: psycopg.Connection) -> None:
    source.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    with psycopg.connect(server.url("latin"), autocommit=True) as latin:
        latin.execute("CREATE TABLE words (t text)")
        latin.execute("INSERT INTO words VALUES ('Größe')")
    assert rows_of(reader_of(server, "latin"), "public.words") == [("Größe",)]
    server.drop("latin")


def test_threads_go_on_while_a_row_is_waited_for(
    source: psycopg.Connection, server: postgres.Server, database: str
) -> None:
    """The next row comes when another thread of this process lets it."""
    wait = "CASE WHEN n = 3000 THEN pg_advisory_lock(7)::text END"
    many = f"SELECT repeat('x', 100), {wait} FROM generate_series(1, 5000) n"
    with psycopg.connect(server.url(database), autocommit=True) as reading:
        reading.execute("SET statement_timeout = '20s'")
        source.execute("SELECT pg_advisory_lock(7)")
        output, rows = CopyOutput(reading, f"COPY ({many}) TO STDOUT".encode()), list[bytes]()
        thread = Thread(target=lambda: rows.extend(output.read(10_000_000)))
        thread.start()
        source.execute("SELECT pg_advisory_unlock(7)")
        thread.join()
    assert len(rows) == 5_000


def test_a_connection_can_be_used_after_an_error_among_the_rows(server: postgres.Server, database: str) -> None:
    with psycopg.connect(server.url(database), autocommit=True) as reading:
        rows = "SELECT repeat('x', 100), 1 / (3000 - n) FROM generate_series(1, 5000) n"
        output = CopyOutput(reading, f"COPY ({rows}) TO STDOUT".encode())
        with pytest.raises(psycopg.errors.DivisionByZero):
            output.read(10_000_000)
        assert output.read(1) == []
        assert reading.execute("SELECT 1").fetchone() == (1,)


def test_secrets_of_the_machine_are_not_used(
    server: postgres.Server, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = tmp_path / "pgpass"
    secrets.write_text("*:*:*:*:of the machine\n")
    secrets.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(secrets))
    monkeypatch.setenv("PGPASSWORD", "of the machine")
    with reader_of(server, database).connect() as connection:
        assert not connection.info.password


def test_whoever_asks_for_tls_gets_a_server_that_is_verified(server: postgres.Server, database: str) -> None:
    assert reader_of(server, database, ssl="true")._parameters()["sslmode"] == "verify-full"
    assert reader_of(server, database, sslmode="require")._parameters()["sslmode"] == "require"
