"""What other systems say, values of rows and names of storages are for those who may edit these."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from lakehold.access import Grant
from lakehold.directory.caller import Caller
from lakehold.runs.runnable import RunOptions
from lakehold.runs.service import MANUAL_CAUSE, Run
from tests.lake.shop import ADA, ED, RITA, TENANT
from tests.workspaces.lakehouse.inline_runs import RUNS
from tests.workspaces.marts.project import SALES, MartsProject

pytestmark = pytest.mark.slow


@pytest.fixture
def storage(here: MartsProject, tmp_path: Path) -> str:
    """A database with people in it."""
    file = tmp_path / "shop.sqlite"
    with sqlite3.connect(file) as made:
        made.execute("CREATE TABLE people (id INTEGER, name TEXT)")
        made.execute("INSERT INTO people VALUES (77701, 'a'), (77701, 'b')")
    return here.storage("people", {"kind": "database", "address": f"jdbc:sqlite:{file}"})


def log(here: MartsProject, run: Run, who: Caller) -> str:
    with here.inline_runs.shop.platform.read(who) as ctx:
        lines = [*RUNS.log_lines(ctx, run.id), *RUNS.last_log_lines(ctx, run.id)]
    assert {line.level for line in lines} <= {"info", "warning", "error"}
    return "\n".join(line.text for line in lines)


@pytest.mark.parametrize(
    ("settings", "private", "public"),
    [
        ({"by": "sql", "sql": "SELECT no_such_one FROM people"}, "no_such_one", "…"),
        (
            {"by": "table", "table": "people", "mode": "merge", "keys": ["id"]},
            "77701",
            "1 keys appear more than once, such as …. Choose a unique key",
        ),
    ],
)
def test_what_a_database_says_is_for_who_may_edit_the_storage(
    here: MartsProject, storage: str, settings: dict[str, object], private: str, public: str
) -> None:
    run = here.run(here.mart(settings, storage=storage), by=ED)
    assert run.state == "failed"
    assert (private in run.error, public in run.error) == (False, True)
    assert all(private not in step.error for step in run.steps)
    assert (private in log(here, run, ED), private in log(here, run, ADA)) == (True, True)
    # Viewing as Ed shows no rows, and so none of their values.
    assert private not in log(here, run, replace(ED, impersonator=ADA.member))
    assert (private in log(here, run, RITA), public in log(here, run, RITA)) == (False, True)


def test_a_refusal_of_the_starter_names_no_storage(here: MartsProject) -> None:
    lost = here.storage("Vault", {"kind": "lake", "lakehouse": "shop"})
    mart, platform = here.mart({"by": "sql", "sql": SALES}, storage=lost), here.inline_runs.shop.platform
    with platform.write(ED) as ctx:
        run = RUNS.insert(ctx, mart, RunOptions(), cause=MANUAL_CAUSE)
    with platform.access.write(TENANT) as session:
        session.store.remove(Grant("ed", "owner", lost))
    ended = here.inline_runs.execute(run)
    assert "Ed, who started it, may not use a storage that it needs." in ended.error
    assert all(word not in ended.error + log(here, ended, RITA) for word in ("Vault", lost))
    assert lost in log(here, ended, ADA)
