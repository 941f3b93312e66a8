"""The worker does what was written down: once, and to its end, also when it is killed on the way."""

from __future__ import annotations

import signal
from pathlib import Path

import pyarrow.dataset
import pytest

from lakehold.access import Add, Grant
from lakehold.directory.installation import Installation
from lakehold.kit.settings import Settings
from lakehold.ledger.audit import Filter
from lakehold.runs import jobs
from lakehold.runs.jobs import Job
from lakehold.runs.kinds import AUDIT, REVIEW
from tests import postgres
from tests.access.company import TENANT
from tests.house import ADA
from tests.runs.workers import beginning, worker


def look(house: Installation, uid: str) -> Job:
    with house.read(ADA) as work:
        return jobs.get(work, uid)


def test_jobs_are_done_by_whichever_worker_finds_them(house: Installation) -> None:
    with worker(house) as one, worker(house, one) as two:
        with house.write(ADA) as work:
            started = [jobs.start(work, AUDIT).id for _ in range(6)]
        done = [one.hear("is done") for _ in started]
        assert one.end() == two.end() == 0
    assert all(any(uid in line for line in done) for uid in started)
    assert {look(house, uid).state for uid in started} == {"done"}
    with house.database.read() as transaction:
        tries = transaction.connection.exec_driver_sql("SELECT tries FROM job").scalars().all()
    assert tries == [1] * 6


@pytest.mark.slow
def test_a_review_goes_on_after_its_worker_was_killed(house: Installation) -> None:
    with house.write(ADA) as work:
        work.make(Add(Grant("bob", "viewer", "orders")))
        uid = jobs.start(work, REVIEW, {"format": "arrow"}).id
    with worker(house, LAKEHOLD_SPARK="local[1]") as first:
        first.hear(f"{uid} is begun")
        first.end(signal.SIGKILL)
    with worker(house, LAKEHOLD_SPARK="local[1]") as second:
        second.hear("goes on with what")
        second.hear(f"{uid} is ")
        second.hear(f"{uid} is ")
        assert second.end() == 0
    job = look(house, uid)
    assert (job.state, job.error) == ("done", "")
    with house.write(ADA) as work:
        file = jobs.result(work, uid, house.settings.data).file
        assert [line.entry.action for line in work.audit.page(Filter(action="start review"))] == ["start review"]
    rows = pyarrow.dataset.dataset(file, format="arrow").to_table().to_pylist()
    assert len(rows) == job.rows
    with house.read(ADA) as work:
        members = ("ada", "ann", "bob")
        wanted = {
            (member, resource, action)
            for resource in (TENANT, "lh", "bronze", "orders", *members, f"{TENANT}/all")
            for member in members
            for action in work.session.actions(member, resource)
        }
    assert {(row["member"], row["resource"], row["action"]) for row in rows} == wanted


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_several_may_begin_at_once_on_an_empty_database(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = ""
    if kind == "postgresql":
        running: postgres.Server = request.getfixturevalue("server")
        url = running.url(running.create())
    house = Installation(Settings(data=tmp_path / "data", database=url))
    house.close()
    with beginning(house) as one, beginning(house) as two, beginning(house) as three:
        for process in (one, two, three):
            process.hear("is ready")
        assert one.end() == two.end() == three.end() == 0
