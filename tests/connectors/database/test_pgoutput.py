"""Messages of `pgoutput` as a real PostgreSQL writes them, decoded and collected into files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pyarrow.parquet as pq
import pytest

from lakehold.connectors.database.change_capture import change_files
from lakehold.connectors.database.change_capture.arrays import array_to_json
from lakehold.connectors.database.change_capture.change_files import ChangeCollector, ChangeFile
from lakehold.connectors.database.change_capture.messages import (
    UNCHANGED,
    PgMessage,
    RowChange,
    TableRelation,
    TableTruncation,
    TransactionEnd,
    TransactionStart,
    decode_message,
    format_lsn,
    parse_lsn,
)
from lakehold.kit.errors import ConflictError
from lakehold.lake.errors import DataError, SourceError
from tests import postgres

PEEK = (
    "SELECT data FROM pg_logical_slot_get_binary_changes('s', NULL, NULL, 'proto_version', '1',"
    " 'publication_names', 'p')"
)


@pytest.fixture(scope="module")
def logged() -> Iterator[psycopg.Connection]:
    """A database that logs its changes, with a slot."""
    with (
        postgres.server("wal_level=logical", "synchronous_commit=on") as server,
        psycopg.connect(server.url(server.create()), autocommit=True) as connection,
    ):
        connection.execute("CREATE TABLE item (id int PRIMARY KEY, n int, t text)")
        connection.execute("ALTER TABLE item ALTER t SET STORAGE EXTERNAL")
        connection.execute("CREATE TABLE whole (id int PRIMARY KEY, t text)")
        connection.execute("ALTER TABLE whole REPLICA IDENTITY FULL")
        connection.execute("CREATE TYPE mood AS ENUM ('good')")
        connection.execute("CREATE TABLE typed (id int PRIMARY KEY, m mood)")
        connection.execute("CREATE PUBLICATION p FOR ALL TABLES")
        connection.execute("SELECT pg_create_logical_replication_slot('s', 'pgoutput')")
        yield connection


def logged_by(connection: psycopg.Connection, *statements: str) -> list[bytes]:
    """The messages of a transaction."""
    with connection.transaction():
        for each in statements:
            connection.execute(each.encode())
    return [data for (data,) in connection.execute(PEEK.encode()).fetchall()]


def decoded(connection: psycopg.Connection, *statements: str) -> list[PgMessage]:
    return [found for each in logged_by(connection, *statements) if (found := decode_message(each)) is not None]


def test_a_transaction_is_decoded(logged: psycopg.Connection) -> None:
    start, relation, *changes, end = decoded(
        logged,
        "INSERT INTO item VALUES (1, NULL, 'é')",
        "UPDATE item SET n = 5 WHERE id = 1",
        "UPDATE item SET id = 2",
        "DELETE FROM item",
    )
    assert isinstance(start, TransactionStart)
    assert isinstance(end, TransactionEnd)
    assert start.commit_lsn == end.commit_lsn < end.end_lsn
    assert isinstance(relation, TableRelation)
    assert relation.stream == "public.item"
    assert [(each.name, each.in_key) for each in relation.columns] == [("id", True), ("n", False), ("t", False)]
    text = "é".encode()
    assert changes == [
        RowChange(relation.id, None, (b"1", None, text), is_insert=True),
        RowChange(relation.id, None, (b"1", b"5", text)),
        RowChange(relation.id, (b"1", None, None), (b"2", b"5", text)),
        RowChange(relation.id, (b"2", None, None), None),
    ]


def test_values_that_are_left_out_are_known(logged: psycopg.Connection) -> None:
    logged_by(logged, "INSERT INTO item VALUES (10, 1, repeat('x', 5000))")
    changes = decoded(logged, "UPDATE item SET n = 2 WHERE id = 10")
    assert [each.new for each in changes if isinstance(each, RowChange)] == [(b"10", b"2", UNCHANGED)]
    logged_by(logged, "DELETE FROM item")


def test_truncations_types_and_whole_old_rows_are_decoded(logged: psycopg.Connection) -> None:
    found = decoded(logged, "TRUNCATE item, whole")
    assert [len(each.relations) for each in found if isinstance(each, TableTruncation)] == [2]
    found = decoded(logged, "INSERT INTO typed VALUES (1, 'good')")
    assert [each.new for each in found if isinstance(each, RowChange)] == [(b"1", b"good")]
    found = decoded(logged, "INSERT INTO whole VALUES (1, 'a')", "UPDATE whole SET t = 'b'")
    assert [each.old for each in found if isinstance(each, RowChange)] == [None, (b"1", b"a")]


def test_a_damaged_message_is_refused(logged: psycopg.Connection) -> None:
    messages = logged_by(logged, "INSERT INTO item VALUES (20, 1, 'x')", "DELETE FROM item")
    for data in messages:
        assert decode_message(data) is not None
        for end in range(len(data)):
            try:
                decode_message(data[:end])
            except SourceError as error:
                assert "cannot be read" in error.message  # noqa: PT017 - some beginnings are whole
    with pytest.raises(SourceError):
        decode_message(b"?")


def change_file(
    connection: psycopg.Connection, folder: Path, since: int = 0, *, table: str = "item", key: str = "id"
) -> ChangeFile:
    row = connection.execute("SELECT %s::regclass::oid::bigint", (table,)).fetchone()
    assert row is not None
    return ChangeFile(folder / "item.parquet", f"public.{table}", row[0], ["id", "T", "more"], [key], since)


def test_changes_are_collected_in_bounded_memory(
    logged: psycopg.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_files, "MAX_HELD_BYTES", 20_000)
    messages = logged_by(
        logged,
        "INSERT INTO item SELECT n, 1, 't' || n FROM generate_series(1, 1000) n",
        "DELETE FROM item WHERE id = 7",
    )
    file = change_file(logged, tmp_path)
    collector = ChangeCollector([file])
    collector.feed(messages)
    assert (file.counts.inserted, file.counts.deleted, file.moves) == (1000, 1, False)
    assert pq.ParquetFile(file.path).num_row_groups > 10
    rows = pq.read_table(file.path).to_pylist()
    assert [(row["c0"], row["c1"], row["c2"]) for row in rows[:2]] == [("1", "t1", None), ("2", "t2", None)]
    assert (rows[-1]["k0"], rows[-1]["there"]) == ("7", False)
    again = change_file(logged, tmp_path, since=collector.end)
    ChangeCollector([again]).feed(messages)
    assert again.is_empty
    logged_by(logged, "TRUNCATE item")


def test_a_truncation_forgets_what_was_before(logged: psycopg.Connection, tmp_path: Path) -> None:
    file = change_file(logged, tmp_path)
    ChangeCollector([file]).feed(
        logged_by(logged, "INSERT INTO item VALUES (1, 1, 'a')", "TRUNCATE item", "INSERT INTO item VALUES (2, 1, 'b')")
    )
    assert (file.truncated, file.counts.total) == (True, 1)
    assert [row["k0"] for row in pq.read_table(file.path).to_pylist()] == ["2"]
    logged_by(logged, "TRUNCATE item")


def test_a_table_is_followed_under_another_name(logged: psycopg.Connection, tmp_path: Path) -> None:
    file = change_file(logged, tmp_path)
    messages = logged_by(logged, "ALTER TABLE item RENAME TO other", "INSERT INTO other VALUES (1, 1, 'a')")
    messages += logged_by(logged, "ALTER TABLE other RENAME TO item", "TRUNCATE whole")
    ChangeCollector([file]).feed(messages)
    assert file.counts.inserted == 1
    logged_by(logged, "TRUNCATE item")


def test_rows_that_the_log_names_by_other_columns_are_refused(logged: psycopg.Connection, tmp_path: Path) -> None:
    logged.execute("CREATE TABLE renamed (id int PRIMARY KEY, t text NOT NULL UNIQUE)")
    logged_by(logged, "INSERT INTO renamed VALUES (1, 'a')")
    messages = logged_by(logged, "DELETE FROM renamed")
    with pytest.raises(ConflictError, match="did not name the rows"):
        ChangeCollector([change_file(logged, tmp_path, table="renamed", key="T")]).feed(messages)


def test_a_key_that_is_missing_in_what_was_loaded_already_is_no_problem(
    logged: psycopg.Connection, tmp_path: Path
) -> None:
    messages = logged_by(logged, "INSERT INTO item VALUES (30, 1, 'a')", "TRUNCATE item")
    with pytest.raises(ConflictError, match="lost its key column 'more'"):
        ChangeCollector([change_file(logged, tmp_path, key="more")]).feed(messages)
    loaded = change_file(logged, tmp_path, since=2**62, key="more")
    ChangeCollector([loaded]).feed(messages)
    assert loaded.is_empty


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("'{1,NULL,3}'::int[]", ["1", None, "3"]),
        ("'{{1,2},{3,4}}'::int[]", [["1", "2"], ["3", "4"]]),
        ("'{}'::int[]", []),
        ("'[2:3]={1,2}'::int[]", ["1", "2"]),
        ("""array['a b', '"', '\\', '', 'NULL', null, 'é,{}']""", ["a b", '"', "\\", "", "NULL", None, "é,{}"]),
    ],
)
def test_arrays_become_json(logged: psycopg.Connection, value: str, expected: object) -> None:
    row = logged.execute(f"SELECT ({value})::text".encode()).fetchone()
    assert row is not None
    assert json.loads(array_to_json(row[0].encode())) == expected


def test_an_array_that_is_none_is_refused() -> None:
    with pytest.raises(DataError):
        array_to_json(b'{"')


def test_positions_are_numbers() -> None:
    assert parse_lsn("16/B374D848") == 0x16B374D848
    assert format_lsn(0x16B374D848) == "16/B374D848"
