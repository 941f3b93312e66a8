"""Who is told of a run that failed, once; and what the figures say of it."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from lakehold import workspaces
from lakehold.access import Grant
from lakehold.api.frame.metrics import Metrics
from lakehold.catalog import editing
from lakehold.catalog.editing import Edit
from lakehold.directory import members
from lakehold.directory.installation import Installation
from lakehold.kit.clock import DAY, now
from lakehold.ledger.outbox import outbox_table
from lakehold.runs import tending, turns
from lakehold.runs.figures import figures
from lakehold.runs.running import Running
from lakehold.runs.warm import Warm
from tests.house import ADA, ANN
from tests.runs.test_triggers import RUNS, query


@pytest.fixture
def running(house: Installation) -> Running:
    house.settings = house.settings.model_copy(update={"smtp": SecretStr("smtp://127.0.0.1:1")})
    with house.write(ADA) as work:
        for member in ("ada", "ann", "bob"):
            members.set_email(work, member, f"{member}@x.test")
    return Running(house, workspaces.runnables(), dict, Warm(house, ""))


def failed(house: Installation, running: Running, uid: str) -> None:
    with house.write(ADA) as work:
        RUNS.start(work, uid)
    with house.database.write(turns.TURN) as transaction:
        ((number, _),) = turns.claim(transaction, house.clock(), most=1, at_once=1)
    for _ in range(2):
        running.end(number, "The source has no rows.")


def told(house: Installation) -> list[tuple[str, str, str]]:
    with house.database.read() as transaction:
        rows = transaction.connection.execute(sa.select(outbox_table).order_by(outbox_table.c.id)).all()
    return [(row.receiver, row.subject, house.keys.decrypt(row.body)) for row in rows]


def test_whom_the_run_was_for_is_told_once(house: Installation, running: Running) -> None:
    failed(house, running, query(house, "daily"))
    ((receiver, subject, body),) = told(house)
    assert (receiver, subject) == ("ada@x.test", "daily has failed")
    assert "The source has no rows." in body
    assert f"{house.settings.base}/runs/run_" in body


def test_those_that_are_named_are_told_if_they_may_see_it(house: Installation, running: Running) -> None:
    uid = query(house, "daily")
    with house.write(ANN) as work:
        settings = {"sql": "SELECT 1", "table": "daily", "notify": ["ann", "bob", "nobody"]}
        editing.edit(work, uid, Edit(settings=settings))
    failed(house, running, uid)
    assert [receiver for receiver, _, _ in told(house)] == ["ann@x.test"]
    with house.write(ADA) as work:
        work.session.store.add(Grant("bob", "viewer", "bronze"))
    failed(house, running, uid)
    assert [receiver for receiver, _, _ in told(house)][1:] == ["ann@x.test", "bob@x.test"]


def test_the_figures_count_runs_and_name_nobody(house: Installation, running: Running) -> None:
    failed(house, running, query(house, "daily"))
    with house.write(ADA) as work:
        RUNS.start(work, "daily")
    with house.database.read() as transaction:
        found = {(each.kind, each.state): each.count for each in figures(transaction)}
        known = Metrics()
        known.runs(figures(transaction))
    assert found == {("lakehouse.query", "failed"): 1, ("lakehouse.query", "queued"): 1}
    text = known.text().decode()
    assert 'lakehold_runs{kind="lakehouse.query",state="failed"} 1.0' in text
    assert "daily" not in text


def test_what_a_run_has_kept_goes_some_time_after_its_end(house: Installation, running: Running) -> None:
    failed(house, running, query(house, "daily"))
    kept = house.settings.data / "runs" / "kept"
    for name in ("1-0", "999-0"):
        (kept / name).mkdir(parents=True)
    # There is no run of the second: it was deleted.
    assert tending.clear_runs(house) == 1
    assert [folder.name for folder in kept.iterdir()] == ["1-0"]
    house.clock = lambda: now() + 8 * DAY
    assert tending.clear_runs(house) == 1
    assert not list(kept.iterdir())
