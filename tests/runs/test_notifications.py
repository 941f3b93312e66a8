"""Who is told of a run that failed, once; and what the figures say of it."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from lakehold import workspaces
from lakehold.access import Grant
from lakehold.api.http.health import Metrics
from lakehold.catalog import resource_edit
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.directory import members
from lakehold.directory.platform import Platform
from lakehold.kit.clock import DAY, now
from lakehold.ledger.outbox import outbox_table
from lakehold.runs import queue
from lakehold.runs.run_table import run_metrics
from lakehold.runs.runnable import RunOptions
from lakehold.runs.scheduler import housekeeping
from lakehold.runs.service import MANUAL_CAUSE
from lakehold.worker.run_executor import RunExecutor
from lakehold.worker.spark_session import SparkRuntime
from tests.platform import ADA, ANN
from tests.runs.test_triggers import RUNS, query


@pytest.fixture
def running(platform: Platform) -> RunExecutor:
    platform.settings = platform.settings.model_copy(update={"smtp": SecretStr("smtp://127.0.0.1:1")})
    with platform.write(ADA) as ctx:
        for member in ("ada", "ann", "bob"):
            members.set_email(ctx, member, f"{member}@x.test")
    return RunExecutor(platform, workspaces.runnables(), dict, SparkRuntime(platform, ""))


def failed(platform: Platform, running: RunExecutor, uid: str) -> None:
    with platform.write(ADA) as ctx:
        RUNS.insert(ctx, uid, RunOptions(), cause=MANUAL_CAUSE)
    with platform.database.write(queue.QUEUE_LOCK) as transaction:
        ((number, _),) = queue.claim_runs(transaction, platform.clock(), most=1, at_once=1)
    for _ in range(2):
        running.end(number, "The source has no rows.")


def sent_mails(platform: Platform) -> list[tuple[str, str, str]]:
    with platform.database.read() as transaction:
        rows = transaction.connection.execute(sa.select(outbox_table).order_by(outbox_table.c.id)).all()
    return [(row.receiver, row.subject, platform.keys.decrypt(row.body)) for row in rows]


def test_whom_the_run_was_for_is_told_once(platform: Platform, running: RunExecutor) -> None:
    failed(platform, running, query(platform, "daily"))
    ((receiver, subject, body),) = sent_mails(platform)
    assert (receiver, subject) == ("ada@x.test", "daily has failed")
    assert "The source has no rows." in body
    assert f"{platform.settings.base_url}/runs/run_" in body


def test_those_that_are_named_are_told_if_they_may_see_it(platform: Platform, running: RunExecutor) -> None:
    uid = query(platform, "daily")
    with platform.write(ANN) as ctx:
        settings = {"sql": "SELECT 1", "table": "daily", "notify": ["ann", "bob", "nobody"]}
        resource_edit.apply_edit(ctx, uid, ResourceEdit(settings=settings))
    failed(platform, running, uid)
    assert [receiver for receiver, _, _ in sent_mails(platform)] == ["ann@x.test"]
    with platform.write(ADA) as ctx:
        ctx.session.store.add(Grant("bob", "viewer", "bronze"))
    failed(platform, running, uid)
    assert [receiver for receiver, _, _ in sent_mails(platform)][1:] == ["ann@x.test", "bob@x.test"]


def test_the_figures_count_runs_and_name_nobody(platform: Platform, running: RunExecutor) -> None:
    failed(platform, running, query(platform, "daily"))
    with platform.write(ADA) as ctx:
        RUNS.start(ctx, "daily")
    with platform.database.read() as transaction:
        found = {(each.kind, each.state): each.count for each in run_metrics(transaction)}
        known = Metrics()
        known.set_runs(run_metrics(transaction))
    assert found == {("lakehouse.query", "failed"): 1, ("lakehouse.query", "queued"): 1}
    text = known.render().decode()
    assert 'lakehold_runs{kind="lakehouse.query",state="failed"} 1.0' in text
    assert "daily" not in text


def test_what_a_run_has_kept_goes_some_time_after_its_end(platform: Platform, running: RunExecutor) -> None:
    failed(platform, running, query(platform, "daily"))
    kept = platform.settings.data / "runs" / "kept"
    for name in ("1-0", "999-0"):
        (kept / name).mkdir(parents=True)
    # There is no run of the second: it was deleted.
    assert housekeeping.delete_retained_folders(platform) == 1
    assert [folder.name for folder in kept.iterdir()] == ["1-0"]
    platform.clock = lambda: now() + 8 * DAY
    assert housekeeping.delete_retained_folders(platform) == 1
    assert not list(kept.iterdir())
