"""Who may start, see and stop a run; and which one is next."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from lakehold.access import Add, Edge, Grant, Remove
from lakehold.catalog import resource_metadata, resources
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.platform import Platform
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.runs import queue
from lakehold.runs import run_table as states
from lakehold.runs.cause import CauseKind, RunCause
from lakehold.runs.run_table import run_log_table, run_table
from tests.platform import ADA, BOB
from tests.runs.test_triggers import RUNS, query


def state_of(platform: Platform, run: str) -> str:
    with platform.database.read() as transaction:
        query = sa.select(run_table.c.state).where(run_table.c.id == run)
        return str(transaction.connection.execute(query).scalar_one())


def claimed(platform: Platform, *, at_once: int = 10) -> int:
    with platform.database.write(queue.QUEUE_LOCK) as transaction:
        return len(queue.claim_runs(transaction, platform.clock(), most=50, at_once=at_once))


def start(platform: Platform, uid: str) -> str:
    with platform.write(ADA) as ctx:
        return RUNS.start(ctx, uid).id


def test_a_run_is_started_by_who_may_and_told_of_to_who_may_see_it(platform: Platform) -> None:
    uid = query(platform, "daily")
    with pytest.raises(HiddenError), platform.write(BOB) as ctx:
        RUNS.start(ctx, uid)
    run = start(platform, uid)
    with pytest.raises(NotFoundError), platform.read(BOB) as ctx:
        RUNS.get(ctx, run)
    with platform.write(ADA) as ctx:
        ctx.session.store.add(Grant("bob", "viewer", "bronze"))
    with platform.read(BOB) as ctx:
        assert RUNS.get(ctx, run).state == "queued"
        assert [each.id for each in RUNS.page(ctx, within="lh")] == [run]
    with pytest.raises(DeniedError, match="Editor"), platform.write(BOB) as ctx:
        RUNS.start(ctx, uid)
    with pytest.raises(DeniedError), platform.write(BOB) as ctx:
        RUNS.stop(ctx, run)


def test_who_may_not_read_an_input_may_not_run_it(platform: Platform) -> None:
    uid = query(platform, "daily")
    with platform.write(ADA) as ctx:
        ctx.session.store.create("lakehouse.layer", "Other", uid="other", edges={"lakehouse": "lh"})
        ctx.session.store.add(Grant("bob", "editor", "other"))
        ctx.make(Add(Edge("writes", uid, "other")))
        ctx.make(Remove(Edge("writes", uid, "bronze")))
    with pytest.raises(HiddenError), platform.write(BOB) as ctx:
        RUNS.start(ctx, uid)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"table": "daily"}, "no sql"),
        ({"sql": "SELECT 1", "table": "Daily sales"}, "table of the query cannot be 'Daily sales'"),
        ({"sql": "SELECT 1", "table": "daily", "mode": "replace"}, "mode of the query cannot be 'replace'"),
        ({"sql": "SELECT 1", "table": "daily", "keys": "id"}, "keys of the query must be a list"),
        ({"sql": 7, "table": "daily"}, "The sql of the query must be a text"),
    ],
)
def test_settings_that_cannot_be_run_are_refused_by_name(
    platform: Platform, settings: dict[str, object], said: str
) -> None:
    edges = {"lakehouse": "lh", "writes": ["bronze"]}
    with pytest.raises(InvalidInputError, match=said), platform.write(ADA) as ctx:
        resources.create(ctx, "lakehouse.query", "Daily", edges=edges, settings=settings)
    # Nor are those run that were stored before settings were validated.
    with platform.write(ADA) as ctx:
        uid = resources.create(ctx, "lakehouse.query", "Daily", edges=edges)
        resource_metadata.save(ctx, uid, settings=settings)
    with pytest.raises(InvalidInputError, match=said), platform.write(ADA) as ctx:
        RUNS.start(ctx, uid)


def test_a_query_into_a_layer_needs_the_name_of_its_table(platform: Platform) -> None:
    with platform.write(ADA) as ctx:
        edges = {"lakehouse": "lh", "writes": ["bronze"]}
        uid = resources.create(ctx, "lakehouse.query", "Daily", edges=edges, settings={"sql": "SELECT 1"})
    with pytest.raises(InvalidInputError, match="no table"), platform.write(ADA) as ctx:
        RUNS.start(ctx, uid)


def test_what_cannot_be_run_is_said_so(platform: Platform) -> None:
    with pytest.raises(InvalidInputError, match="A layer cannot be run"), platform.write(ADA) as ctx:
        RUNS.start(ctx, "bronze")
    with pytest.raises(ConflictError, match="not the result of a query"), platform.write(ADA) as ctx:
        RUNS.start(ctx, "orders")
    with platform.write(ADA) as ctx:
        uid = resources.create(
            ctx, "lakehouse.query", "Idle", edges={"lakehouse": "lh"}, settings={"sql": "SELECT 1", "table": "x"}
        )
    with pytest.raises(ConflictError, match="writes no table"), platform.write(ADA) as ctx:
        RUNS.start(ctx, uid)


def test_of_two_that_write_the_same_the_second_waits(platform: Platform) -> None:
    first, second = start(platform, query(platform, "one")), start(platform, query(platform, "two"))
    assert claimed(platform) == 1
    assert (state_of(platform, first), state_of(platform, second)) == ("running", "waiting")
    assert claimed(platform) == 0
    with platform.database.write() as transaction:
        transaction.connection.execute(run_table.update().where(run_table.c.id == first).values(state="succeeded"))
    assert claimed(platform) == 1
    assert state_of(platform, second) == "running"


def test_a_workspace_has_so_many_going_at_once(platform: Platform) -> None:
    for name in ("one", "two", "three"):
        with platform.write(ADA) as ctx:
            ctx.session.store.create("lakehouse.layer", name, uid=f"layer_{name}", edges={"lakehouse": "lh"})
        uid = query(platform, name)
        with platform.write(ADA) as ctx:
            ctx.make(Add(Edge("writes", uid, f"layer_{name}")))
            ctx.make(Remove(Edge("writes", uid, "bronze")))
        start(platform, uid)
    assert claimed(platform, at_once=2) == 2
    assert claimed(platform, at_once=2) == 0
    assert claimed(platform, at_once=3) == 1


def test_however_many_wait_in_one_workspace_the_others_have_their_turn(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "_MAX_CANDIDATES", 2)
    crowd = query(platform, "crowd")
    first, *_ = [start(platform, crowd) for _ in range(5)]
    with platform.write(ADA) as ctx:
        ctx.session.store.create("lakehouse.lakehouse", "Other", uid="other", edges={"tenant": ctx.caller.tenant})
        ctx.session.store.create("lakehouse.layer", "far", uid="far", edges={"lakehouse": "other"})
        edges = {"lakehouse": "other", "writes": ["far"], "into": "far"}
        settings = {"sql": "SELECT 1 AS one", "table": "alone"}
        alone = resources.create(ctx, "lakehouse.query", "alone", edges=edges, settings=settings)
    alone_run = start(platform, alone)
    assert claimed(platform) == 2
    assert {state_of(platform, run) for run in (first, alone_run)} == {"running"}


def test_a_run_that_has_not_begun_is_stopped_at_once_and_can_go_on(platform: Platform) -> None:
    run = start(platform, query(platform, "daily"))
    with platform.write(ADA) as ctx:
        assert RUNS.stop(ctx, run).state == states.STOPPED
    with pytest.raises(ConflictError, match="stopped already"), platform.write(ADA) as ctx:
        RUNS.stop(ctx, run)
    with platform.write(ADA) as ctx:
        again = RUNS.resume(ctx, run)
    assert (again.state, again.tries) == (states.QUEUED, 1)
    with pytest.raises(ConflictError, match="is queued"), platform.write(ADA) as ctx:
        RUNS.resume(ctx, run)
    claimed(platform)
    with platform.write(ADA) as ctx:
        assert RUNS.stop(ctx, run).state == states.STOPPING


def test_a_retry_is_a_run_of_its_own(platform: Platform) -> None:
    run = start(platform, query(platform, "daily"))
    with platform.write(ADA) as ctx:
        again = RUNS.retry(ctx, run)
    assert again.id != run
    assert again.cause == RunCause(CauseKind.RETRY, run)


def test_runs_are_paged_newest_first_and_by_state(platform: Platform) -> None:
    uid = query(platform, "daily")
    runs = [start(platform, uid) for _ in range(5)]
    with platform.read(ADA) as ctx:
        assert [each.id for each in RUNS.page(ctx, resource=uid, limit=2)] == [runs[4], runs[3]]
        assert [each.id for each in RUNS.page(ctx, resource=uid, before=runs[3], limit=9)] == runs[2::-1]
        assert RUNS.page(ctx, state=states.FAILED) == []


def test_runs_are_found_by_who_started_them_and_by_what_is_run(platform: Platform) -> None:
    daily, weekly = query(platform, "daily"), query(platform, "weekly")
    runs = [start(platform, uid) for uid in (daily, weekly, daily)]
    with platform.read(ADA) as ctx:
        assert [each.id for each in RUNS.page(ctx, search="DAI")] == [runs[2], runs[0]]
        assert [each.id for each in RUNS.page(ctx, within="lh", search="week")] == [runs[1]]
        assert RUNS.page(ctx, search="monthly") == []
        assert len(RUNS.page(ctx, by="ada")) == 3
        assert RUNS.page(ctx, by="bob") == []
    with platform.read(BOB) as ctx:
        assert RUNS.page(ctx, search="daily") == []


def test_the_last_lines_of_a_run_are_those_it_said_last(platform: Platform) -> None:
    run = start(platform, query(platform, "daily"))
    with platform.database.write() as transaction:
        row = transaction.connection.execute(sa.select(run_table).where(run_table.c.id == run)).one()
        line = {"tenant_id": row.tenant_id, "run": row.n, "step": 0, "at": row.made_at, "level": "info"}
        said = [{**line, "text": f"line {number}"} for number in range(5)]
        transaction.connection.execute(run_log_table.insert(), said)
    with platform.read(ADA) as ctx:
        assert [each.text for each in RUNS.last_log_lines(ctx, run, limit=2)] == ["line 3", "line 4"]
    with pytest.raises(NotFoundError), platform.read(BOB) as ctx:
        RUNS.last_log_lines(ctx, run)
