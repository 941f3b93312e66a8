"""Jobs: who may start one, as whom it runs, and who gets its result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from lakehold.access import Add, Grant, Remove, TokenPrincipal
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError
from lakehold.directory.platform import Platform
from lakehold.kit.clock import DAY
from lakehold.kit.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from lakehold.ledger.audit import AuditFilter
from lakehold.runs import run_table
from lakehold.runs.jobs import exports, runner, service, table
from lakehold.runs.jobs.runner import JobContext
from lakehold.runs.jobs.service import ACCESS_REVIEW, Job
from lakehold.runs.scheduler import housekeeping
from tests.access.company import TENANT
from tests.platform import ADA, ANN, BOB


def write_lines(job_ctx: JobContext) -> tuple[Path, int]:
    """A review that needs no Spark: what it says is tested with reviews."""
    with job_ctx.temporary_folder() as folder, job_ctx.platform.read(job_ctx.caller) as ctx:
        file = folder / "review.csv"
        file.write_text(f"member\n{ctx.caller.member}\n")
        return job_ctx.publish_file(file), 1


@pytest.fixture(autouse=True)
def _without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "export_access_review", write_lines)


def start(platform: Platform, caller: Caller = ADA, kind: str = ACCESS_REVIEW, **options: object) -> Job:
    with platform.write(caller) as ctx:
        return service.start_job(ctx, kind, options)


def done(platform: Platform, job: Job) -> Job:
    """The job after all its steps, as a worker takes them."""
    runner.finish_job(platform, job.id, runner.begin_job(platform, job.id) or runner.execute_job(platform, job.id))
    with platform.read(ADA) as ctx:
        return service.get_job(ctx, job.id)


def text(platform: Platform, job: Job, caller: Caller = ADA) -> str:
    with platform.write(caller) as ctx:
        return service.get_result(ctx, job.id, platform.settings.data).read_text()


def test_a_review_becomes_a_file(platform: Platform) -> None:
    job = done(platform, start(platform))
    assert (job.state, job.progress, job.rows, job.error) == ("done", 100, 1, "")
    assert text(platform, job).splitlines() == ["member", "ada"]
    with platform.read(ADA) as ctx:
        deeds = {line.entry.action for line in ctx.audit.page(AuditFilter(member="ada"))}
    assert {"start review", "take review"} <= deeds


def test_who_may_not_ask_about_others_gets_no_file(platform: Platform) -> None:
    with pytest.raises(DeniedError):
        start(platform, BOB)
    narrowed = replace(ADA, narrowed=TokenPrincipal("ada", actions=frozenset({"see"})))
    with pytest.raises(DeniedError):
        start(platform, narrowed)


def test_a_right_that_is_gone_when_it_starts_stops_it(platform: Platform) -> None:
    with platform.write(ADA) as ctx:
        ctx.make(Add(Grant("bob", "admin", TENANT)))
    job = start(platform, BOB)
    with platform.write(ADA) as ctx:
        ctx.make(Remove(Grant("bob", "admin", TENANT)))
    job = done(platform, job)
    assert job.state == "failed"
    assert "Admin on tenant" in job.error
    with platform.read(ADA) as ctx:
        (denied,) = ctx.audit.page(AuditFilter(member="bob", outcome="denied"))
    assert denied.entry.address == "worker"


def test_a_right_that_is_gone_afterwards_keeps_the_file_back(platform: Platform) -> None:
    with platform.write(ADA) as ctx:
        ctx.make(Add(Grant("bob", "admin", TENANT)))
    job = done(platform, start(platform, BOB))
    with platform.write(ADA) as ctx:
        ctx.make(Remove(Grant("bob", "admin", TENANT)))
    with pytest.raises(DeniedError):
        text(platform, job, BOB)
    assert text(platform, job)


def test_it_runs_as_narrow_as_it_was_started(platform: Platform) -> None:
    narrowed = replace(
        ADA,
        narrowed=TokenPrincipal("ada", actions=frozenset({"ask_about_others", "see"}), resources=frozenset({TENANT})),
        token_id="t",
    )
    job = start(platform, narrowed)
    assert run_table.load_caller(table.load_row(platform, job.id)) == replace(narrowed, address="worker")


def test_jobs_are_seen_by_those_who_started_them_and_by_those_who_see_the_log(platform: Platform) -> None:
    with platform.write(ADA) as ctx:
        ctx.make(Add(Grant("bob", "admin", TENANT)))
    mine, theirs = start(platform, BOB), start(platform)
    with platform.write(ADA) as ctx:
        ctx.make(Remove(Grant("bob", "admin", TENANT)))
    with platform.read(BOB) as ctx:
        assert [job.id for job in service.list_jobs(ctx)] == [mine.id]
        with pytest.raises(NotFoundError):
            service.get_job(ctx, theirs.id)
    with platform.read(ANN) as ctx:
        assert [job.id for job in service.list_jobs(ctx)] == [theirs.id, mine.id]
        assert [job.id for job in service.list_jobs(ctx, before=theirs.id)] == [mine.id]
        assert service.list_jobs(ctx, kind="other") == []


def test_what_is_not_done_has_no_result(platform: Platform) -> None:
    job = start(platform)
    with pytest.raises(ConflictError, match="not done yet"):
        text(platform, job)
    with platform.database.write() as transaction:
        table.update_job(transaction, job.id, {"state": table.FAILED, "error": "because"})
    with pytest.raises(ConflictError, match="because"):
        text(platform, job)


def test_who_views_as_somebody_starts_nothing(platform: Platform) -> None:
    with pytest.raises(ForbiddenError):
        start(platform, replace(ADA, impersonator="ann"))


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("cooking", {}, "no kind of job"),
        (ACCESS_REVIEW, {"format": "docx"}, "format"),
        (ACCESS_REVIEW, {"format": 3}, "format"),
        (ACCESS_REVIEW, {"kinds": "lakehouse.table"}, "list of texts"),
        (ACCESS_REVIEW, {"kinds": ["lakehouse.tabel"]}, "no kind"),
        (ACCESS_REVIEW, {"inside": ""}, "inside"),
        (ACCESS_REVIEW, {"where": "x"}, "no field"),
    ],
)
def test_what_can_never_be_right_is_refused_at_once(
    platform: Platform, kind: str, options: dict[str, object], words: str
) -> None:
    with pytest.raises(InvalidInputError, match=words):
        start(platform, ADA, kind, **options)
    with platform.read(ADA) as ctx:
        assert service.list_jobs(ctx) == []


def test_a_step_that_is_begun_again_leaves_the_same_behind(platform: Platform) -> None:
    job = start(platform)
    assert runner.begin_job(platform, job.id) == runner.begin_job(platform, job.id) == {}
    first, second = runner.execute_job(platform, job.id), runner.execute_job(platform, job.id)
    assert first == second
    runner.finish_job(platform, job.id, first)
    runner.finish_job(platform, job.id, {"error": "too late"})
    folder = table.results_folder(platform.settings.data, 1)
    assert [file.name for file in folder.iterdir()] == [f"{job.id}.csv"]
    with platform.read(ADA) as ctx:
        assert service.get_job(ctx, job.id).state == "done"


def test_a_job_at_which_workers_die_is_given_up(platform: Platform) -> None:
    job = start(platform)
    with platform.database.write() as transaction:
        table.update_job(transaction, job.id, {"tries": 3})
    assert "3 times" in str(runner.execute_job(platform, job.id)["error"])


def test_results_are_not_kept_for_ever(platform: Platform) -> None:
    job = done(platform, start(platform))
    assert housekeeping.delete_old_results(platform) == 0
    with platform.database.write() as transaction:
        table.update_job(transaction, job.id, {"ended_at": platform.clock() - 8 * DAY}, unless=frozenset())
    assert housekeeping.delete_old_results(platform) == 1
    assert list(table.results_folder(platform.settings.data, 1).iterdir()) == []
    with pytest.raises(NotFoundError):
        text(platform, job)


def test_the_csv_of_a_review_has_no_formulas(tmp_path: Path) -> None:
    rows = pa.table({"member": ["=1+1", "ann"], "resource": ["-x", "＠y"], "kind": ["k", "k"], "action": ["see", None]})
    (tmp_path / "parts").mkdir()
    pyarrow.parquet.write_table(rows, tmp_path / "parts" / "1.parquet")
    assert exports.concatenate_parts(tmp_path / "parts", tmp_path / "review.csv") == 2
    lines = (tmp_path / "review.csv").read_text().splitlines()
    assert lines[1:] == ['"\'=1+1","\'-x","k","see"', '"ann","\'＠y","k",']
    assert exports.concatenate_parts(tmp_path / "parts", tmp_path / "review.parquet") == 2
    assert pyarrow.parquet.read_table(tmp_path / "review.parquet").column("member").to_pylist() == ["=1+1", "ann"]
