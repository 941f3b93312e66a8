"""What is changed in a definition while its run goes on changes the next run, and rights count to the last step."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import sqlalchemy as sa

from lakehold import workspaces
from lakehold.access import Add, Attribute, Grant, Remove
from lakehold.catalog import credentials, resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.platform import Platform
from lakehold.kit.errors import ConflictError
from lakehold.runs import queue
from lakehold.runs.run_table import SUCCEEDED, RunRow, load_run, run_step_table, run_table, update_step
from lakehold.runs.runnable import Step
from lakehold.worker.run_executor import RunExecutor, step_executors
from lakehold.worker.spark_session import SparkRuntime
from lakehold.workspaces.lakehouse.steps import IngestStream, MaterialiseQuery
from tests.platform import ADA, BOB
from tests.runs.test_triggers import RUNS, query


def stream(platform: Platform, name: str) -> None:
    with platform.write(ADA) as ctx:
        settings = {"stream": name, "table": name}
        resources.create(ctx, "lakehouse.stream", name, uid=name, edges={"source": "shop"}, settings=settings)


@pytest.fixture
def source(platform: Platform) -> str:
    """A source with two streams."""
    with platform.write(ADA) as ctx:
        settings = {
            "connector": "api",
            "address": "http://127.0.0.1:1",
            "endpoints": [{"name": "clicks", "path": "/clicks"}],
        }
        edges = {"lakehouse": "lh", "into": "bronze"}
        uid = resources.create(ctx, "lakehouse.source", "shop", uid="shop", edges=edges, settings=settings)
    stream(platform, "clicks")
    stream(platform, "visits")
    return uid


def begin(platform: Platform, uid: str, by: Caller = ADA) -> tuple[RunExecutor, RunRow]:
    """A run that has begun, and has done nothing yet."""
    running = RunExecutor(platform, workspaces.runnables(), step_executors, SparkRuntime(platform, ""))
    with platform.write(by) as ctx:
        RUNS.start(ctx, uid)
    with platform.database.write(queue.QUEUE_LOCK) as transaction:
        ((number, _),) = queue.claim_runs(transaction, platform.clock(), most=1, at_once=1)
    assert running.begin(number)[0] == ""
    return running, load_run(platform, number)


def planned(platform: Platform, running: RunExecutor, row: RunRow) -> Sequence[Step]:
    with platform.database.read() as transaction:
        c = run_step_table.c
        places = transaction.connection.execute(sa.select(c.number).where(c.run == row.n).order_by(c.number)).scalars()
        return [running._planned_step(row, place)[0] for place in list(places)]


def test_streams_that_are_disabled_renamed_or_added_change_the_next_run(platform: Platform, source: str) -> None:
    running, row = begin(platform, source)
    before = planned(platform, running, row)
    assert [step.name for step in before] == ["clicks", "visits"]
    with platform.write(ADA) as ctx:
        ctx.make(Add(Attribute("clicks", "enabled", "false")))
        ctx.rename("visits", "a first one")
    stream(platform, "added")
    assert planned(platform, running, row) == before
    with platform.database.write() as transaction:
        transaction.connection.execute(run_table.update().values(state=SUCCEEDED))
    following = begin(platform, source)
    assert [step.name for step in planned(platform, *following)] == ["a first one", "added"]


def test_a_run_that_goes_on_follows_a_correction_of_what_it_has_not_done(platform: Platform) -> None:
    uid = query(platform, "daily")
    running, row = begin(platform, uid)
    with platform.write(ADA) as ctx:
        settings = {"sql": "SELECT 2 AS two", "table": "daily"}
        resource_edit.apply_edit(ctx, uid, ResourceEdit(settings=settings))
    (step,) = planned(platform, running, row)
    assert isinstance(step, MaterialiseQuery)
    assert step.sql == "SELECT 1 AS one"
    assert running.begin(row.n) == ("", 1)
    (step,) = planned(platform, running, row)
    assert isinstance(step, MaterialiseQuery)
    assert step.sql == "SELECT 2 AS two"


def test_what_was_done_stays_as_it_was_planned(platform: Platform) -> None:
    uid = query(platform, "daily")
    running, row = begin(platform, uid)
    update_step(platform, row.n, 0, state=SUCCEEDED)
    with platform.write(ADA) as ctx:
        settings = {"sql": "SELECT 2 AS two", "table": "daily"}
        resource_edit.apply_edit(ctx, uid, ResourceEdit(settings=settings))
    running.begin(row.n)
    (step,) = planned(platform, running, row)
    assert isinstance(step, MaterialiseQuery)
    assert step.sql == "SELECT 1 AS one"


def test_a_right_that_is_taken_away_meanwhile_ends_the_run_before_its_next_step(platform: Platform) -> None:
    uid, level = query(platform, "daily"), Grant("bob", "editor", "bronze")
    with platform.write(ADA) as ctx:
        for grant in (Grant("bob", "member", "lh"), level):
            if grant not in ctx.grants(grant.resource):
                ctx.make(Add(grant))
    running, row = begin(platform, uid, BOB)
    assert len(planned(platform, running, row)) == 1
    with platform.write(ADA) as ctx:
        ctx.make(Remove(level))
    with pytest.raises((DeniedError, HiddenError)):
        planned(platform, running, row)


def test_a_run_of_an_earlier_release_finds_its_steps_by_name(platform: Platform, source: str) -> None:
    running, row = begin(platform, source)
    with platform.database.write() as transaction:
        transaction.connection.execute(run_step_table.update().values(plan=""))
    stream(platform, "a_first_one")
    assert [step.name for step in planned(platform, running, row)] == ["clicks", "visits"]


def test_settings_that_are_changed_meanwhile_change_the_next_run(platform: Platform, source: str) -> None:
    running, row = begin(platform, source)
    before = planned(platform, running, row)
    with platform.write(ADA) as ctx:
        appended = {"stream": "clicks", "table": "clicks", "mode": "append"}
        resource_edit.apply_edit(ctx, "clicks", ResourceEdit(settings=appended))
        endpoints = [{"name": "clicks", "path": "/other"}]
        settings = {"connector": "api", "address": "http://127.0.0.1:1", "endpoints": endpoints}
        resource_edit.apply_edit(ctx, source, ResourceEdit(settings=settings))
    assert planned(platform, running, row) == before
    step = before[0]
    assert isinstance(step, IngestStream)
    assert "mode" not in step.stream_settings
    assert step.source_settings["endpoints"] == [{"name": "clicks", "path": "/clicks"}]


def test_a_secret_is_not_sent_to_where_it_belonged_before(platform: Platform, source: str) -> None:
    running, row = begin(platform, source)
    (step, _) = planned(platform, running, row)
    assert isinstance(step, IngestStream)
    with platform.write(ADA) as ctx:
        endpoints = [{"name": "clicks", "path": "/clicks"}]
        settings = {"connector": "api", "address": "http://127.0.0.1:2", "endpoints": endpoints}
        resource_edit.apply_edit(ctx, source, ResourceEdit(settings=settings))
        assert credentials.load_for_step(ctx, source, step.source_settings) == {}
        credentials.save(ctx, source, {"token": "of the new place"})
        with pytest.raises(ConflictError, match="changed after the run had begun"):
            credentials.load_for_step(ctx, source, step.source_settings)
        assert credentials.load_for_step(ctx, source, settings) == {"token": "of the new place"}
