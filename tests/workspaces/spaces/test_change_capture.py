"""Landing by change data capture, from a real PostgreSQL that logs its changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest

from lakehold.catalog import resources
from lakehold.connectors.database.change_capture.replication_source import ReplicationSource
from lakehold.workspaces.spaces import change_captures
from lakehold.workspaces.spaces.change_captures import ChangeCapture
from lakehold.workspaces.spaces.executors import capture_upkeep
from tests import postgres
from tests.api.client import json_body, problem, serve_api
from tests.workspaces.spaces.change_source import LOGICAL, capture, captures, connect, place_of
from tests.workspaces.spaces.space import ERIK, PREPARE, TENANT, InlineSpace

KINDS = (
    "id bigint PRIMARY KEY, sm smallint, n numeric(10, 2), n0 numeric, r real, d float8, b bool, t text, ch char(5),"
    " by bytea, dt date, ts timestamp, tz timestamptz, ti time, iv interval, u uuid, j json, jb jsonb, ia int[],"
    " ta text[], na numeric(10, 2)[], inet inet, bt bit, bt3 bit(3), ia2 int[][], ba bytea[], tza timestamptz[],"
    " bla bool[]"
)
ROW = (
    r"""2, 4.50, 5.123456789, 1.5, 2.5, true, 'txt "é" ', 'ch', '\x00ff', '2026-01-02', '2026-01-02 03:04:05.123456',"""
    r" '2026-01-02 03:04:05.123456+02', '12:34:56.5', '1 day 2 hours', '00000000-0000-0000-0000-000000000001',"
    r""" '{"a": 1}', '{"b":2}', '{1,2,NULL}', '{a,"b,\"c",NULL,""}', '{1.5,2.25}', '10.0.0.1/8', '1', '101',"""
    r""" '{{1,2},{3,4}}', '{"\\x00ff"}', '{2026-01-02 03:04:05+02}', '{t,f,NULL}'"""
)


@pytest.fixture(scope="module")
def logged() -> Iterator[postgres.Server]:
    """A server that logs changes for logical decoding."""
    with postgres.server(*LOGICAL) as running:
        yield running


@pytest.fixture(scope="module")
def address(logged: postgres.Server) -> str:
    return logged.create()


@pytest.fixture
def db(logged: postgres.Server, address: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(logged.url(address), autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="module")
def live(space: InlineSpace, logged: postgres.Server, address: str) -> str:
    """The connection to the database that logs its changes."""
    return connect(space, logged, address, "live")


def run(db: psycopg.Connection, statement: str) -> None:
    db.execute(statement.encode())


def source_rows(db: psycopg.Connection, table: str, columns: str = "*") -> list[tuple[object, ...]]:
    return sorted(db.execute(f"SELECT {columns} FROM {table}".encode()).fetchall(), key=str)


def slots(db: psycopg.Connection) -> set[str]:
    return {row[0] for row in db.execute("SELECT slot_name FROM pg_replication_slots").fetchall()}


def test_rows_are_loaded_and_then_follow_the_changes(space: InlineSpace, db: psycopg.Connection, live: str) -> None:
    run(db, "CREATE TABLE c_one (id int PRIMARY KEY, name text)")
    run(db, "CREATE TABLE c_two (id int PRIMARY KEY, name text)")
    run(db, "INSERT INTO c_one SELECT n, 'n' || n FROM generate_series(1, 5) n")
    task = space.make("c_basic", capture(live, "c_one", "c_two"))
    done = space.run(task)
    assert [(step.name, step.rows) for step in done.steps] == [("c_basic.changes", 5)]
    assert space.rows(task, "c_one") == source_rows(db, "c_one")
    with db.transaction():
        run(db, "INSERT INTO c_one VALUES (6, 'n6'), (7, 'n7')")
        run(db, "UPDATE c_one SET name = 'changed' WHERE id < 3")
        run(db, "DELETE FROM c_one WHERE id IN (3, 7)")
        run(db, "INSERT INTO c_two VALUES (1, 'a')")
    run(db, "UPDATE c_one SET id = 40 WHERE id = 4")
    assert space.run(task).steps[0].rows == 8
    for table in ("c_one", "c_two"):
        assert space.rows(task, table) == source_rows(db, table)
    assert space.run(task).steps[0].rows == 0
    run(db, "TRUNCATE c_one")
    run(db, "INSERT INTO c_one VALUES (9, 'new')")
    space.run(task)
    assert space.rows(task, "c_one") == [(9, "new")]


def test_values_are_those_that_jdbc_reads(space: InlineSpace, db: psycopg.Connection, live: str) -> None:
    run(db, f"CREATE TABLE c_kinds ({KINDS})")
    run(db, f"INSERT INTO c_kinds VALUES (1, {ROW})")
    task = space.make("c_kinds", capture(live, "c_kinds"))
    space.run(task)
    run(db, f"INSERT INTO c_kinds VALUES (2, {ROW})")
    run(db, "INSERT INTO c_kinds VALUES (3)")
    space.run(task)
    read, followed, empty = space.rows(task, "c_kinds")
    assert followed[1:] == read[1:]
    assert set(empty[1:]) == {None}


def test_values_that_the_log_leaves_out_stay(space: InlineSpace, db: psycopg.Connection, live: str) -> None:
    run(db, "CREATE TABLE c_large (id int PRIMARY KEY, n int, t text)")
    run(db, "ALTER TABLE c_large ALTER t SET STORAGE EXTERNAL")
    run(db, "INSERT INTO c_large SELECT n, 0, repeat(n::text, 5000) FROM generate_series(1, 6) n")
    task = space.make("c_large", capture(live, "c_large"))
    space.run(task)
    run(db, "UPDATE c_large SET n = 1 WHERE id = 1")
    run(db, "DELETE FROM c_large WHERE id = 6")
    run(db, "INSERT INTO c_large VALUES (6, 0, repeat('y', 5000))")
    space.run(task)
    assert space.rows(task, "c_large") == source_rows(db, "c_large")
    with db.transaction():
        run(db, "UPDATE c_large SET t = repeat('new', 5000) WHERE id = 2")
        run(db, "UPDATE c_large SET n = 2 WHERE id = 2")
        # Rows that get another key keep what is not in the log, and whoever gets their key has nothing of it.
        run(db, "UPDATE c_large SET id = 30, n = 3 WHERE id = 3")
        run(db, "INSERT INTO c_large VALUES (3, 9, 'other')")
        run(db, "UPDATE c_large SET id = 31 WHERE id = 30")
        run(db, "UPDATE c_large SET t = 'short' WHERE id = 31")
        run(db, "UPDATE c_large SET id = 99 WHERE id = 4")
        run(db, "UPDATE c_large SET id = 4 WHERE id = 5")
        run(db, "UPDATE c_large SET id = 5 WHERE id = 99")
        run(db, "UPDATE c_large SET id = 60 WHERE id = 6")
        run(db, "DELETE FROM c_large WHERE id = 60")
        run(db, "INSERT INTO c_large VALUES (60, 1, 'fresh')")
    space.run(task)
    assert space.rows(task, "c_large") == source_rows(db, "c_large")


def test_what_was_applied_before_a_crash_is_not_applied_again(
    space: InlineSpace, db: psycopg.Connection, live: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(db, "CREATE TABLE c_crash (id int PRIMARY KEY, n int)")
    run(db, "CREATE TABLE c_late (id int PRIMARY KEY, n int)")
    run(db, "INSERT INTO c_crash VALUES (1, 0)")
    task = space.make("c_crash", capture(live, "c_crash", "c_late"))
    space.run(task)
    run(db, "UPDATE c_crash SET n = 1")

    def fail(*_: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patch:
        # All is saved; the slot has not moved.
        patch.setattr(ReplicationSource, "advance", fail)
        assert space.start(task).state == "failed"
    assert space.rows(task, "c_crash") == [(1, 1)]
    run(db, "UPDATE c_crash SET n = 2")
    run(db, "INSERT INTO c_late VALUES (1, 1)")
    with monkeypatch.context() as patch:
        # The rows are committed; that they are is not saved yet.
        patch.setattr(change_captures, "save", fail)
        assert space.start(task).state == "failed"
    before = [snapshots(space, task, name) for name in ("c_crash", "c_late")]
    assert space.run(task).steps[0].rows == 0
    assert [snapshots(space, task, name) for name in ("c_crash", "c_late")] == before
    assert (space.rows(task, "c_crash"), space.rows(task, "c_late")) == ([(1, 2)], [(1, 1)])


def snapshots(space: InlineSpace, task: str, name: str) -> list[int]:
    return [each.id for each in space.tables.current_metadata(place_of(space, task, name)).snapshots]


def test_a_dataset_is_reloaded_in_one_snapshot(space: InlineSpace, db: psycopg.Connection, live: str) -> None:
    run(db, "CREATE TABLE c_again (id int PRIMARY KEY, n int)")
    run(db, "CREATE TABLE c_added (id int PRIMARY KEY, n int)")
    run(db, "INSERT INTO c_again VALUES (1, 0)")
    task = space.make("c_again", capture(live, "c_again"))
    space.run(task)
    run(db, "INSERT INTO c_again VALUES (2, 0)")
    run(db, "INSERT INTO c_added VALUES (1, 0)")
    before = snapshots(space, task, "c_again")
    space.run(task, reload=True)
    assert space.rows(task, "c_again") == [(1, 0), (2, 0)]
    assert len(snapshots(space, task, "c_again")) == len(before) + 1
    run(db, "INSERT INTO c_again VALUES (3, 0)")
    # A dataset that joins is loaded; the others go on where they were.
    space.edit(task, capture(live, "c_again", "c_added"))
    space.prepare(task)
    space.run(task)
    run(db, "UPDATE c_added SET n = 1")
    assert space.run(space.dataset(task, "c_added")).steps[0].rows == 1
    assert space.rows(task, "c_again") == [(1, 0), (2, 0), (3, 0)]
    assert space.rows(task, "c_added") == [(1, 1)]


def test_columns_follow_those_of_the_source(space: InlineSpace, db: psycopg.Connection, live: str) -> None:
    run(db, "CREATE TABLE c_apply (id int PRIMARY KEY, n int, gone text)")
    run(db, "INSERT INTO c_apply VALUES (1, 1, 'a'), (2, 2, 'b')")
    task = space.make("c_apply", capture(live, "c_apply"))
    space.run(task)
    with db.transaction():
        run(db, "UPDATE c_apply SET n = 3 WHERE id = 1")
        run(db, "ALTER TABLE c_apply ADD more text, ALTER n TYPE bigint, DROP gone")
        run(db, "INSERT INTO c_apply VALUES (3, 3000000000, 'x')")
        run(db, "UPDATE c_apply SET more = 'y' WHERE id = 2")
    space.run(task)
    assert space.rows(task, "c_apply") == [(1, 3, "a", None), (2, 2, None, "y"), (3, 3_000_000_000, None, "x")]


def test_columns_stay_if_the_task_says_so(space: InlineSpace, db: psycopg.Connection, live: str) -> None:
    run(db, "CREATE TABLE c_stay (id int PRIMARY KEY, n int)")
    task = space.make("c_stay", capture(live, "c_stay", schema_changes="ignore"))
    space.run(task)
    run(db, "ALTER TABLE c_stay ADD more text")
    run(db, "INSERT INTO c_stay VALUES (1, 1, 'x')")
    space.run(task)
    assert space.rows(task, "c_stay") == [(1, 1)]
    run(db, "ALTER TABLE c_stay ALTER n TYPE bigint")
    run(db, "INSERT INTO c_stay VALUES (2, 3000000000, 'x')")
    failed = space.start(task)
    assert failed.state == "failed"
    assert "A changed value of public.c_stay does not fit the dataset" in failed.error
    assert space.rows(task, "c_stay") == [(1, 1)]


def test_a_changed_column_stops_the_task_until_it_is_prepared(
    space: InlineSpace, db: psycopg.Connection, live: str
) -> None:
    run(db, "CREATE TABLE c_stop (id int PRIMARY KEY, n int)")
    task = space.make("c_stop", capture(live, "c_stop", schema_changes="stop"))
    space.run(task)
    run(db, "INSERT INTO c_stop VALUES (1, 1)")
    run(db, "ALTER TABLE c_stop ADD more text")
    run(db, "INSERT INTO c_stop VALUES (2, 2, 'x')")
    failed = space.start(task)
    assert (failed.state, "more is new" in failed.error) == ("failed", True)
    assert space.rows(task, "c_stop") == []
    space.prepare(task)
    space.run(task)
    assert space.rows(task, "c_stop") == [(1, 1, None), (2, 2, "x")]
    run(db, "ALTER TABLE c_stop DROP n")
    assert "n is missing" in space.start(task).error
    space.prepare(task, recreate=True)
    assert space.rows(task, "c_stop") == []
    space.run(task)
    assert space.rows(task, "c_stop") == [(1, None), (2, "x")]


def test_partitions_and_whole_old_rows_are_followed(space: InlineSpace, db: psycopg.Connection, live: str) -> None:
    run(db, "CREATE TABLE c_parts (id int, day int, t text, PRIMARY KEY (day, id)) PARTITION BY RANGE (day)")
    for n in range(2):
        run(db, f"CREATE TABLE c_parts_{n} PARTITION OF c_parts FOR VALUES FROM ({n * 10}) TO ({n * 10 + 10})")
    run(db, "CREATE TABLE c_whole (id int PRIMARY KEY, n int, t text)")
    run(db, "ALTER TABLE c_whole REPLICA IDENTITY FULL, ALTER t SET STORAGE EXTERNAL")
    run(db, "INSERT INTO c_parts SELECT n, n, 't' FROM generate_series(1, 15) n")
    run(db, "INSERT INTO c_whole VALUES (1, 0, repeat('x', 5000)), (2, 0, 'y')")
    datasets = [
        {"name": "c_parts", "stream": "public.c_parts", "mode": "changes", "keys": ["id", "day"],
         "parts": {"column": "day", "count": 2}},
        {"name": "c_whole", "stream": "public.c_whole", "mode": "changes", "keys": ["id"]},
    ]  # fmt: skip
    task = space.make("c_parts", {**capture(live), "datasets": datasets})
    space.run(task)
    run(db, "UPDATE c_parts SET day = day + 10 WHERE id < 5")
    run(db, "DELETE FROM c_parts WHERE id > 13")
    run(db, "UPDATE c_whole SET id = 3, n = 1 WHERE id = 1")
    run(db, "DELETE FROM c_whole WHERE id = 2")
    space.run(task)
    for table in ("c_parts", "c_whole"):
        assert space.rows(task, table) == source_rows(db, table)


def test_a_slot_goes_with_its_task(space: InlineSpace, db: psycopg.Connection, live: str) -> None:
    run(db, "CREATE TABLE c_gone (id int PRIMARY KEY)")
    task = space.make("c_gone", capture(live, "c_gone"))
    space.run(task)
    (one,) = captures(space, task)
    assert one.slot in slots(db)
    space.edit(task, {**capture(live, "c_gone"), "datasets": [{"name": "c_gone", "stream": "public.c_gone"}]})
    capture_upkeep.drop_unused_slots(space.platform)
    assert one.slot in slots(db)
    space.prepare(task)
    assert (one.slot in slots(db), captures(space, task)) == (False, [])
    space.edit(task, capture(live, "c_gone"))
    space.prepare(task)
    space.run(task)
    assert one.slot in slots(db)
    with space.platform.write(ERIK) as ctx:
        resources.delete(ctx, task)
    capture_upkeep.drop_unused_slots(space.platform)
    assert one.slot not in slots(db)
    found = db.execute("SELECT count(*) FROM pg_publication WHERE pubname = %s", (one.slot,)).fetchone()
    assert found == (0,)


def test_a_lost_slot_is_said_and_made_anew_by_a_reload(space: InlineSpace, db: psycopg.Connection, live: str) -> None:
    run(db, "CREATE TABLE c_lost (id int PRIMARY KEY)")
    task = space.make("c_lost", capture(live, "c_lost"))
    space.run(task)
    (one,) = captures(space, task)
    run(db, "INSERT INTO c_lost VALUES (1)")
    db.execute("SELECT pg_replication_slot_advance(%s, pg_current_wal_flush_lsn())", (one.slot,))
    run(db, "INSERT INTO c_lost VALUES (2)")
    failed = space.start(task)
    assert "somebody else has read its replication slot. Reload the task" in failed.error
    space.run(task, reload=True)
    assert space.rows(task, "c_lost") == [(1,), (2,)]
    run(db, f"DROP PUBLICATION {one.slot}")
    run(db, "INSERT INTO c_lost VALUES (4)")
    assert "its publication or slot was dropped" in space.start(task).error
    space.run(task, reload=True)
    run(db, "DELETE FROM c_lost WHERE id = 4")
    db.execute("SELECT pg_drop_replication_slot(%s)", (one.slot,))
    assert "its replication slot was dropped. Reload the task" in space.start(task).error
    run(db, "DELETE FROM c_lost WHERE id = 1")
    space.run(task, reload=True)
    run(db, "INSERT INTO c_lost VALUES (3)")
    space.run(task)
    assert space.rows(task, "c_lost") == [(2,), (3,)]


def tamper(space: InlineSpace, found: ChangeCapture, **state: object) -> ChangeCapture:
    """Save another progress."""
    other = replace(found, state=replace(found.state, **state))  # type: ignore[arg-type]
    with space.platform.write(ERIK) as ctx:
        change_captures.save(ctx, other)
    return other


def test_a_log_that_does_not_go_on_is_refused(space: InlineSpace, db: psycopg.Connection, live: str) -> None:
    run(db, "CREATE TABLE c_moved (id int PRIMARY KEY)")
    task = space.make("c_moved", capture(live, "c_moved"))
    space.run(task)
    (one,) = captures(space, task)
    tamper(space, one, confirmed=2**60)
    run(db, "INSERT INTO c_moved VALUES (1)")
    assert "the database was restored to an earlier state" in space.start(task).error
    tamper(space, one, source="7/8")
    assert "the connection leads to another database than before. Reload the task" in space.start(task).error
    lines = space.lines(space.run(task, reload=True))
    assert any("drop it there by hand" in line for line in lines)
    assert space.rows(task, "c_moved") == [(1,)]


def test_a_publication_that_leaves_out_changes_is_refused(
    space: InlineSpace, db: psycopg.Connection, live: str
) -> None:
    run(db, "CREATE TABLE c_pub (id int PRIMARY KEY)")
    run(db, "CREATE TABLE c_pub_2 (id int PRIMARY KEY)")
    task = space.make("c_pub", capture(live, "c_pub", "c_pub_2"))
    space.run(task)
    (one,) = captures(space, task)
    run(db, f"ALTER PUBLICATION {one.slot} DROP TABLE c_pub")
    run(db, "INSERT INTO c_pub VALUES (1)")
    for _ in range(2):
        assert "public.c_pub was taken out of the publication" in space.start(task).error
    space.run(space.dataset(task, "c_pub"), reload=True)
    assert space.rows(task, "c_pub") == [(1,)]
    run(db, f"ALTER PUBLICATION {one.slot} SET (publish = 'insert')")
    assert "leaves out changes" in space.start(task).error
    run(db, f"ALTER PUBLICATION {one.slot} SET (publish = 'insert, update, delete, truncate')")
    run(db, f"ALTER PUBLICATION {one.slot} SET TABLE c_pub WHERE (id > 1), c_pub_2")
    assert "leaves out changes" in space.start(task).error


def test_a_copy_leaves_the_slot_of_its_original(space: InlineSpace, db: psycopg.Connection, live: str) -> None:
    run(db, "CREATE TABLE c_copy (id int PRIMARY KEY)")
    task = space.make("c_copy", capture(live, "c_copy"))
    space.run(task)
    (one,) = captures(space, task)
    original = f"{one.slot}_original"
    db.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", (original,))
    with space.platform.write(ERIK) as ctx:
        change_captures.save(ctx, replace(one, slot=original))
        resources.delete(ctx, task)
    capture_upkeep.drop_unused_slots(space.platform)
    assert original in slots(db)
    for name in (original, one.slot):
        db.execute("SELECT pg_drop_replication_slot(%s)", (name,))
    with space.platform.read(ERIK) as ctx:
        assert not change_captures.list_all(ctx, change_captures.capture_table.c.slot == original)


def test_a_slot_that_nobody_reads_is_a_problem(space: InlineSpace, db: psycopg.Connection, live: str) -> None:
    run(db, "CREATE TABLE c_full (id int PRIMARY KEY, t text)")
    task = space.make("c_full", capture(live, "c_full", retained_warning_mb=1))
    space.run(task)
    capture_upkeep.check_slots(space.platform)
    assert [each.problem for each in captures(space, task)] == [""]
    run(db, "INSERT INTO c_full SELECT n, repeat('x', 100) FROM generate_series(1, 20000) n")
    capture_upkeep.check_slots(space.platform)
    (one,) = captures(space, task)
    assert one.retained > 2**20
    assert "which may fill its disk" in one.problem
    with serve_api(space.platform, TENANT) as api:
        (item,) = json_body(api.get(f"/api/v1/tasks/{task}/change-captures", "vito"))["items"]
        assert (item["slot"], item["connection"], item["problem"]) == (one.slot, live, one.problem)
        assert item["retained"] == one.retained
        problem(api.get(f"/api/v1/tasks/{task}/change-captures", "carl"), 403, "forbidden")
        problem(api.get(f"/api/v1/tasks/{task}/change-captures", "zoe"), 404, "not_found")
    lines = space.lines(space.run(task))
    assert any("which may fill its disk" in line for line in lines)
    for _ in range(2):
        # The database forgets what lies before the last checkpoint that the slot has passed.
        run(db, "CHECKPOINT")
        space.run(task)
    capture_upkeep.check_slots(space.platform)
    assert [each.problem for each in captures(space, task)] == [""]


def test_what_cannot_be_captured_is_refused_when_it_is_prepared(
    space: InlineSpace, logged: postgres.Server, address: str, db: psycopg.Connection, live: str
) -> None:
    run(db, "CREATE TABLE c_nokey (id int, n int)")
    run(db, "CREATE TABLE c_other (id int PRIMARY KEY, n int)")
    run(db, "CREATE VIEW c_view AS SELECT * FROM c_other")
    run(db, "CREATE TABLE c_made (id int PRIMARY KEY, n int GENERATED ALWAYS AS (id + 1) STORED)")
    run(db, "CREATE ROLE reader LOGIN")
    run(db, "GRANT SELECT ON c_other TO reader")
    poor = connect(space, logged, address, "poor", "reader")
    for settings, expected in (
        (capture(live, "c_nokey"), "public.c_nokey has no primary key or replica identity"),
        (capture(live, "c_other", keys=["n"]), "names the rows of public.c_other by id, and not by n"),
        (capture(live, "c_view"), "public.c_view is no table"),
        (capture(live, "c_made"), "has the generated column n"),
        (capture(poor, "c_other"), "may not read the log of changes"),
    ):
        task = space.task("refused", settings)
        failed = space.start(task, PREPARE)
        assert (failed.state, expected in failed.error) == ("failed", True), failed.error
        with space.platform.write(ERIK) as ctx:
            resources.delete(ctx, task)


def test_who_may_not_publish_the_tables_is_told_what_to_do(
    space: InlineSpace, logged: postgres.Server, address: str, db: psycopg.Connection
) -> None:
    run(db, "CREATE TABLE c_owned (id int PRIMARY KEY)")
    run(db, "CREATE ROLE copier LOGIN REPLICATION")
    run(db, "GRANT SELECT ON c_owned TO copier")
    task = space.make("c_owned", capture(connect(space, logged, address, "copier", "copier"), "c_owned"))
    assert "or make the publication lakehold_" in space.start(task).error
    (one,) = captures(space, task)
    run(db, f"CREATE PUBLICATION {one.slot} FOR TABLE c_owned WITH (publish_via_partition_root = true)")
    space.run(task)
    run(db, "INSERT INTO c_owned VALUES (1)")
    space.run(task)
    assert space.rows(task, "c_owned") == [(1,)]


def test_a_database_without_logical_decoding_is_refused(
    space: InlineSpace, source: psycopg.Connection, shop: str
) -> None:
    run(source, "CREATE TABLE c_plain (id int PRIMARY KEY)")
    failed = space.start(space.task("c_plain", capture(shop, "c_plain")), PREPARE)
    assert "its wal_level is replica" in failed.error
