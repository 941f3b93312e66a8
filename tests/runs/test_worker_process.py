"""The worker does what was written down: once, and to its end, also when it is killed on the way."""

from __future__ import annotations

import signal
from pathlib import Path

import pyarrow.dataset
import pytest

from lakehold.access import Add, Grant
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from lakehold.ledger.audit import AuditFilter
from lakehold.runs.jobs import service
from lakehold.runs.jobs.service import ACCESS_REVIEW, Job
from tests import postgres
from tests.access.company import TENANT
from tests.platform import ADA
from tests.runs.workers import launch_worker, start_worker


def look(platform: Platform, uid: str) -> Job:
    with platform.read(ADA) as ctx:
        return service.get_job(ctx, uid)


def test_jobs_are_done_by_whichever_worker_finds_them(platform: Platform) -> None:
    spark = "local[1]"
    with start_worker(platform, LAKEHOLD_SPARK=spark) as one, start_worker(platform, one, LAKEHOLD_SPARK=spark) as two:
        with platform.write(ADA) as ctx:
            started = [service.start_job(ctx, ACCESS_REVIEW).id for _ in range(6)]
        done = [one.wait_for_line("is done") for _ in started]
        assert one.stop() == two.stop() == 0
    assert all(any(uid in line for line in done) for uid in started)
    assert {look(platform, uid).state for uid in started} == {"done"}
    with platform.database.read() as transaction:
        tries = transaction.connection.exec_driver_sql("SELECT tries FROM job").scalars().all()
    assert tries == [1] * 6


@pytest.mark.slow
@pytest.mark.rare
def test_a_review_goes_on_after_its_worker_was_killed(platform: Platform) -> None:
    with platform.write(ADA) as ctx:
        ctx.make(Add(Grant("bob", "viewer", "orders")))
        uid = service.start_job(ctx, ACCESS_REVIEW, {"format": "arrow"}).id
    with start_worker(platform, LAKEHOLD_SPARK="local[1]") as first:
        first.wait_for_line(f"{uid} started")
        first.stop(signal.SIGKILL)
    with start_worker(platform, LAKEHOLD_SPARK="local[1]") as second:
        second.wait_for_line("takes over from")
        second.wait_for_line(f"{uid} started")
        second.wait_for_line(f"{uid} is done")
        assert second.stop() == 0
    job = look(platform, uid)
    assert (job.state, job.error) == ("done", "")
    with platform.write(ADA) as ctx:
        file = service.get_result(ctx, uid, platform.settings.data)
        assert [line.entry.action for line in ctx.audit.page(AuditFilter(action="start review"))] == ["start review"]
    rows = pyarrow.dataset.dataset(file, format="arrow").to_table().to_pylist()
    assert len(rows) == job.rows
    with platform.read(ADA) as ctx:
        members = ("ada", "ann", "bob")
        expected = {
            (member, resource, action)
            for resource in (TENANT, "lh", "bronze", "orders", *members, f"{TENANT}/all")
            for member in members
            for action in ctx.session.actions(member, resource)
        }
    assert {(row["member"], row["resource"], row["action"]) for row in rows} == expected


@pytest.mark.flow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_several_may_begin_at_once_on_an_empty_database(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = ""
    if kind == "postgresql":
        running: postgres.Server = request.getfixturevalue("server")
        url = running.url(running.create())
    platform = Platform(Settings(data=tmp_path / "data", database=url))
    platform.close()
    with launch_worker(platform) as one, launch_worker(platform) as two, launch_worker(platform) as three:
        for process in (one, two, three):
            process.wait_for_line("is ready")
        assert one.stop() == two.stop() == three.stop() == 0
