"""Who may start, see and stop a run; and which one is next."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from lakehold.access import Add, Edge, Grant, Remove
from lakehold.catalog import resources
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.installation import Installation
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.runs import run_table as states
from lakehold.runs import turns
from lakehold.runs.run_table import run_log_table, run_table
from tests.house import ADA, BOB
from tests.runs.test_triggers import RUNS, query


def state_of(house: Installation, run: str) -> str:
    with house.database.read() as transaction:
        query = sa.select(run_table.c.state).where(run_table.c.id == run)
        return str(transaction.connection.execute(query).scalar_one())


def claimed(house: Installation, *, at_once: int = 10) -> int:
    with house.database.write(turns.TURN) as transaction:
        return len(turns.claim(transaction, house.clock(), most=50, at_once=at_once))


def start(house: Installation, uid: str) -> str:
    with house.write(ADA) as work:
        return RUNS.start(work, uid).id


def test_a_run_is_started_by_who_may_and_told_of_to_who_may_see_it(house: Installation) -> None:
    uid = query(house, "daily")
    with pytest.raises(HiddenError), house.write(BOB) as work:
        RUNS.start(work, uid)
    run = start(house, uid)
    with pytest.raises(NotFoundError), house.read(BOB) as work:
        RUNS.get(work, run)
    with house.write(ADA) as work:
        work.session.store.add(Grant("bob", "viewer", "bronze"))
    with house.read(BOB) as work:
        assert RUNS.get(work, run).state == "queued"
        assert [each.id for each in RUNS.page(work, within="lh")] == [run]
    with pytest.raises(DeniedError, match="Editor"), house.write(BOB) as work:
        RUNS.start(work, uid)
    with pytest.raises(DeniedError), house.write(BOB) as work:
        RUNS.stop(work, run)


def test_who_may_not_read_an_input_may_not_run_it(house: Installation) -> None:
    uid = query(house, "daily")
    with house.write(ADA) as work:
        work.session.store.create("lakehouse.layer", "Other", uid="other", edges={"lakehouse": "lh"})
        work.session.store.add(Grant("bob", "editor", "other"))
        work.make(Add(Edge("writes", uid, "other")))
        work.make(Remove(Edge("writes", uid, "bronze")))
    with pytest.raises(HiddenError), house.write(BOB) as work:
        RUNS.start(work, uid)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"table": "daily"}, "no sql"),
        ({"sql": "SELECT 1"}, "no table"),
        ({"sql": "SELECT 1", "table": "Daily sales"}, "cannot be called"),
        ({"sql": "SELECT 1", "table": "daily", "mode": "replace"}, "mode of the query cannot be 'replace'"),
        ({"sql": "SELECT 1", "table": "daily", "keys": "id"}, "keys of the query is a list"),
        ({"sql": 7, "table": "daily"}, "The sql of the query is a text"),
    ],
)
def test_settings_that_cannot_be_run_are_refused_by_name(
    house: Installation, settings: dict[str, object], said: str
) -> None:
    with house.write(ADA) as work:
        edges = {"lakehouse": "lh", "writes": ["bronze"]}
        uid = resources.create(work, "lakehouse.query", "Daily", edges=edges, settings=settings)
    with pytest.raises(InvalidInputError, match=said), house.write(ADA) as work:
        RUNS.start(work, uid)


def test_what_cannot_be_run_is_said_so(house: Installation) -> None:
    with pytest.raises(InvalidInputError, match="A layer cannot be run"), house.write(ADA) as work:
        RUNS.start(work, "bronze")
    with pytest.raises(ConflictError, match="not the result of a query"), house.write(ADA) as work:
        RUNS.start(work, "orders")
    with house.write(ADA) as work:
        uid = resources.create(
            work, "lakehouse.query", "Idle", edges={"lakehouse": "lh"}, settings={"sql": "SELECT 1", "table": "x"}
        )
    with pytest.raises(ConflictError, match="writes no table"), house.write(ADA) as work:
        RUNS.start(work, uid)


def test_of_two_that_write_the_same_the_second_waits(house: Installation) -> None:
    first, second = start(house, query(house, "one")), start(house, query(house, "two"))
    assert claimed(house) == 1
    assert (state_of(house, first), state_of(house, second)) == ("running", "waiting")
    assert claimed(house) == 0
    with house.database.write() as transaction:
        transaction.connection.execute(run_table.update().where(run_table.c.id == first).values(state="succeeded"))
    assert claimed(house) == 1
    assert state_of(house, second) == "running"


def test_a_workspace_has_so_many_going_at_once(house: Installation) -> None:
    for name in ("one", "two", "three"):
        with house.write(ADA) as work:
            work.session.store.create("lakehouse.layer", name, uid=f"layer_{name}", edges={"lakehouse": "lh"})
        uid = query(house, name)
        with house.write(ADA) as work:
            work.make(Add(Edge("writes", uid, f"layer_{name}")))
            work.make(Remove(Edge("writes", uid, "bronze")))
        start(house, uid)
    assert claimed(house, at_once=2) == 2
    assert claimed(house, at_once=2) == 0
    assert claimed(house, at_once=3) == 1


def test_however_many_wait_in_one_workspace_the_others_have_their_turn(
    house: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "_LOOKED_AT", 2)
    crowd = query(house, "crowd")
    first, *_ = [start(house, crowd) for _ in range(5)]
    with house.write(ADA) as work:
        work.session.store.create("lakehouse.lakehouse", "Other", uid="other", edges={"tenant": work.caller.tenant})
        work.session.store.create("lakehouse.layer", "far", uid="far", edges={"lakehouse": "other"})
        edges = {"lakehouse": "other", "writes": ["far"], "into": "far"}
        told = {"sql": "SELECT 1 AS one", "table": "alone"}
        alone = resources.create(work, "lakehouse.query", "alone", edges=edges, settings=told)
    alone_run = start(house, alone)
    assert claimed(house) == 2
    assert {state_of(house, run) for run in (first, alone_run)} == {"running"}


def test_a_run_that_has_not_begun_is_stopped_at_once_and_can_go_on(house: Installation) -> None:
    run = start(house, query(house, "daily"))
    with house.write(ADA) as work:
        assert RUNS.stop(work, run).state == states.STOPPED
    with pytest.raises(ConflictError, match="stopped already"), house.write(ADA) as work:
        RUNS.stop(work, run)
    with house.write(ADA) as work:
        again = RUNS.resume(work, run)
    assert (again.state, again.tries) == (states.QUEUED, 1)
    with pytest.raises(ConflictError, match="is queued"), house.write(ADA) as work:
        RUNS.resume(work, run)
    claimed(house)
    with house.write(ADA) as work:
        assert RUNS.stop(work, run).state == states.STOPPING


def test_a_retry_is_a_run_of_its_own(house: Installation) -> None:
    run = start(house, query(house, "daily"))
    with house.write(ADA) as work:
        again = RUNS.retry(work, run)
    assert again.id != run
    assert again.cause == f"again after {run}"


def test_runs_are_paged_newest_first_and_by_state(house: Installation) -> None:
    uid = query(house, "daily")
    runs = [start(house, uid) for _ in range(5)]
    with house.read(ADA) as work:
        assert [each.id for each in RUNS.page(work, resource=uid, limit=2)] == [runs[4], runs[3]]
        assert [each.id for each in RUNS.page(work, resource=uid, before=runs[3], limit=9)] == runs[2::-1]
        assert RUNS.page(work, state=states.FAILED) == []


def test_runs_are_found_by_who_started_them_and_by_what_is_run(house: Installation) -> None:
    daily, weekly = query(house, "daily"), query(house, "weekly")
    runs = [start(house, uid) for uid in (daily, weekly, daily)]
    with house.read(ADA) as work:
        assert [each.id for each in RUNS.page(work, search="DAI")] == [runs[2], runs[0]]
        assert [each.id for each in RUNS.page(work, within="lh", search="week")] == [runs[1]]
        assert RUNS.page(work, search="monthly") == []
        assert len(RUNS.page(work, by="ada")) == 3
        assert RUNS.page(work, by="bob") == []
    with house.read(BOB) as work:
        assert RUNS.page(work, search="daily") == []


def test_the_last_lines_of_a_run_are_those_it_said_last(house: Installation) -> None:
    run = start(house, query(house, "daily"))
    with house.database.write() as transaction:
        row = transaction.connection.execute(sa.select(run_table).where(run_table.c.id == run)).one()
        line = {"tenant_id": row.tenant_id, "run": row.n, "step": 0, "at": row.made_at, "level": "info"}
        said = [{**line, "text": f"line {number}"} for number in range(5)]
        transaction.connection.execute(run_log_table.insert(), said)
    with house.read(ADA) as work:
        assert [each.text for each in RUNS.last_lines(work, run, limit=2)] == ["line 3", "line 4"]
    with pytest.raises(NotFoundError), house.read(BOB) as work:
        RUNS.last_lines(work, run)
