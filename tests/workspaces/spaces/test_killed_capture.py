"""A worker that captures changes is killed again and again: what it lands equals the source in the end."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Event
from time import monotonic

import psycopg
import pytest
from pyspark.sql import SparkSession

from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.runs.runnable import RunOptions
from tests import postgres
from tests.processes import PATIENCE, Process
from tests.runs.workers import start_worker
from tests.workspaces.spaces.change_source import LOGICAL, capture, captures, connect, place_of
from tests.workspaces.spaces.space import OTTO, RUNS, InlineSpace, inline_space

pytestmark = [pytest.mark.slow, pytest.mark.rare]
_CHANGES, _KILLS, _ROWS = 100_000, 5, 2_000
_TABLES = ("main", "side")
_UPSERT = (
    "INSERT INTO main SELECT n, n, repeat(n::text, 800) FROM generate_series({low}, {high}) n"
    " ON CONFLICT (id) DO UPDATE SET n = main.n * 2 % 1000, t = left(excluded.t, 2500)"
)
_STATEMENTS = (
    "DELETE FROM main WHERE id BETWEEN {low} AND {high}",
    "UPDATE main SET n = (n + 1) % 1000 WHERE id BETWEEN {low} AND {high}",
    # Rows get other keys, and what is large stays out of the log.
    "UPDATE main SET id = id + 5000 WHERE id BETWEEN {low} AND {high} AND id + 5000 NOT IN (SELECT id FROM main)",
    (
        "UPDATE main SET id = id - 5000"
        " WHERE id - 5000 BETWEEN {low} AND {high} AND id - 5000 NOT IN (SELECT id FROM main)"
    ),
    _UPSERT,
    _UPSERT,
)
_BALANCE = "UPDATE main SET n = -(SELECT coalesce(sum(n), 0) FROM main WHERE id <> 0) WHERE id = 0"
"""Each transaction leaves a sum of zero."""


@pytest.fixture
def logged() -> Iterator[postgres.Server]:
    with postgres.server(*LOGICAL) as running:
        yield running


@pytest.fixture
def alone(spark: SparkSession, template_file: Path, tmp_path: Path, logged: postgres.Server) -> Iterator[InlineSpace]:
    with inline_space(spark, template_file, tmp_path, logged, logged.create()) as found:
        yield found


def change_randomly(db: psycopg.Connection, dice: random.Random, most: int) -> None:
    """Change rows in transactions of any size."""
    done = 0
    while done < most:
        with db.transaction():
            for _ in range(dice.randint(1, 40)):
                low = dice.randint(1, _ROWS)
                text = dice.choice(_STATEMENTS).format(low=low, high=low + dice.randint(0, 60))
                done += db.execute(text.encode()).rowcount
            done += db.execute(_BALANCE.encode()).rowcount
            db.execute("UPDATE side SET n = n + 1")


def wait_until(holds: Callable[[], bool]) -> None:
    until = monotonic() + PATIENCE
    while not holds():
        assert monotonic() < until
        # Nobody tells when a table is written.
        Event().wait(0.02)


def launch(space: InlineSpace) -> Process:
    return start_worker(space.platform, LAKEHOLD_SPARK="local[2]", LAKEHOLD_PRIVATE_ADDRESSES="true")


def test_a_killed_worker_loses_and_doubles_nothing(alone: InlineSpace, logged: postgres.Server) -> None:
    database = logged.create()
    with psycopg.connect(logged.url(database), autocommit=True) as db:
        db.execute("CREATE TABLE main (id int PRIMARY KEY, n int, t text)")
        db.execute("ALTER TABLE main ALTER t SET STORAGE EXTERNAL")
        db.execute("CREATE TABLE side (id int PRIMARY KEY, n int)")
        db.execute("INSERT INTO main SELECT n, 0, repeat(n::text, 800) FROM generate_series(0, 500) n")
        db.execute("INSERT INTO side VALUES (1, 0)")
        connection = connect(alone, logged, database, "killed")
        task = alone.make("killed", capture(connection, *_TABLES, batch_changes=5_000))
        alone.run(task)
        _kill_again_and_again(alone, task, db)
        for table in _TABLES:
            source = sorted(db.execute(f"SELECT * FROM {table}".encode()).fetchall(), key=str)
            assert alone.rows(task, table) == source
    place = place_of(alone, task, "main")
    sums = [_sum(alone, place, each) for each in snapshots(alone, place)]
    assert len(sums) > _KILLS
    assert set(sums) == {0}, "a transaction was half visible"


def _kill_again_and_again(space: InlineSpace, task: str, db: psycopg.Connection) -> None:
    dice, place = random.Random(7), place_of(space, task, "main")  # noqa: S311 - repeatable
    worker = launch(space)
    try:
        for kill in range(_KILLS):
            change_randomly(db, dice, _CHANGES // _KILLS)
            there, confirmed = len(snapshots(space, place)), captures(space, task)[0].state.confirmed
            with space.platform.write(OTTO) as ctx:
                run = RUNS.start(ctx, task, RunOptions()).id
            # Once what is confirmed is saved; once when rows are committed, and perhaps nobody knows.
            wait_until(
                partial(_has_confirmed, space, task, confirmed) if kill % 2 else partial(_has_more, space, place, there)
            )
            worker.stop(signal.SIGKILL)
            worker = launch(space)
            worker.wait_for_line(f"run {run} has succeeded")
    finally:
        worker.stop(signal.SIGKILL)


def _has_confirmed(space: InlineSpace, task: str, before: int) -> bool:
    return captures(space, task)[0].state.confirmed > before


def _has_more(space: InlineSpace, place: TableIdentifier, before: int) -> bool:
    return len(snapshots(space, place)) > before


def snapshots(space: InlineSpace, place: TableIdentifier) -> list[int]:
    return [each.id for each in space.tables.current_metadata(place).snapshots]


def _sum(space: InlineSpace, place: TableIdentifier, snapshot: int) -> int:
    row = space.tables.read(place, snapshot=snapshot).groupBy().sum("n").first()
    assert row is not None
    return int(row[0] or 0)
