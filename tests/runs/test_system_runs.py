"""Runs as a table: those that its principal may see."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet

from lakehold.access import Grant
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.runs import run_table as states
from lakehold.runs.run_table import run_step_table, run_table
from lakehold.worker import system_tables
from tests.platform import ADA, BOB
from tests.runs.test_runs import start
from tests.runs.test_triggers import RUNS, query


def system_rows(platform: Platform, caller: Caller, folder: Path) -> list[dict[str, object]]:
    with platform.read(caller) as ctx:
        files = system_tables.write_runs(RUNS, ctx, folder)
    return [row for file in files for row in pyarrow.parquet.read_table(file).to_pylist()]


def test_a_run_is_a_row_to_who_may_see_it(platform: Platform, tmp_path: Path) -> None:
    run = start(platform, query(platform, "daily"))
    assert system_rows(platform, BOB, tmp_path) == []
    with platform.write(ADA) as ctx:
        ctx.session.store.add(Grant("bob", "viewer", "bronze"))
    (row,) = system_rows(platform, BOB, tmp_path)
    assert (row["id"], row["state"], row["workspace"], row["started_by"]) == (run, states.QUEUED, "lh", "ada")
    assert (row["cause"], row["cause_kind"]) == ("by hand", "manual")
    assert row["ended_at"] is None


def test_what_its_steps_did_is_added_up(platform: Platform, tmp_path: Path) -> None:
    run = start(platform, query(platform, "daily"))
    with platform.database.write() as transaction:
        here = run_table.select().where(run_table.c.id == run)
        number = transaction.connection.execute(here).one()
        step = {
            "tenant_id": number.tenant_id,
            "run": number.n,
            "name": "s",
            "state": states.SUCCEEDED,
            "error": "",
            "saved_state": "{}",
            "begun": 0,
        }
        for n, (rows, bad) in enumerate([(7, 1), (5, 0)]):
            added = run_step_table.insert().values(**step, number=n, rows=rows, size=100, bad=bad)
            transaction.connection.execute(added)
    (row,) = system_rows(platform, ADA, tmp_path)
    assert (row["rows"], row["size"], row["bad"]) == (12, 200, 1)
