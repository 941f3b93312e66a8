"""Jobs: who may start one, as whom it runs, and who gets its result."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lakehold.access import Add, Grant, Remove, Token
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError
from lakehold.directory.installation import Installation
from lakehold.kit.clock import DAY
from lakehold.kit.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from lakehold.ledger.audit import Filter
from lakehold.runs import book, doing, jobs, tending
from lakehold.runs.jobs import Job
from lakehold.runs.kinds import AUDIT, REVIEW
from tests.access.company import TENANT
from tests.house import ADA, ANN, BOB


def start(house: Installation, caller: Caller = ADA, kind: str = AUDIT, **wanted: object) -> Job:
    with house.write(caller) as work:
        return jobs.start(work, kind, wanted)


def done(house: Installation, job: Job) -> Job:
    """The job after all its steps, as a worker takes them."""
    doing.end(house, job.id, doing.begin(house, job.id) or doing.do(house, job.id))
    with house.read(ADA) as work:
        return jobs.get(work, job.id)


def text(house: Installation, job: Job, caller: Caller = ADA) -> str:
    with house.write(caller) as work:
        return jobs.result(work, job.id, house.settings.data).file.read_text()


def test_the_audit_log_becomes_a_file(house: Installation) -> None:
    with house.write(ADA) as work:
        work.make(Add(Grant("bob", "viewer", "orders")))
    job = done(house, start(house, action="grant"))
    assert (job.state, job.progress, job.rows, job.error) == ("done", 100, 1, "")
    (line,) = text(house, job).splitlines()
    said = json.loads(line)
    assert (said["member"], said["action"], said["resource"]) == ("ada", "grant", "orders")
    with house.read(ADA) as work:
        deeds = {line.entry.action for line in work.audit.page(Filter(member="ada"))}
    assert {"start audit export", "take audit export"} <= deeds


def test_who_may_not_see_the_log_gets_no_file_of_it(house: Installation) -> None:
    with pytest.raises(DeniedError):
        start(house, BOB)
    with pytest.raises(DeniedError):
        start(house, BOB, REVIEW)
    narrowed = replace(ADA, narrowed=Token("ada", actions=frozenset({"see"})))
    with pytest.raises(DeniedError):
        start(house, narrowed)


def test_a_right_that_is_gone_when_it_starts_stops_it(house: Installation) -> None:
    with house.write(ADA) as work:
        work.make(Add(Grant("bob", "admin", TENANT)))
    job = start(house, BOB)
    with house.write(ADA) as work:
        work.make(Remove(Grant("bob", "admin", TENANT)))
    job = done(house, job)
    assert job.state == "failed"
    assert "Admin on tenant" in job.error
    with house.read(ADA) as work:
        (denied,) = work.audit.page(Filter(member="bob", outcome="denied"))
    assert denied.entry.address == "worker"


def test_a_right_that_is_gone_afterwards_keeps_the_file_back(house: Installation) -> None:
    with house.write(ADA) as work:
        work.make(Add(Grant("bob", "admin", TENANT)))
    job = done(house, start(house, BOB))
    with house.write(ADA) as work:
        work.make(Remove(Grant("bob", "admin", TENANT)))
    with pytest.raises(DeniedError):
        text(house, job, BOB)
    assert text(house, job)


def test_it_runs_as_narrow_as_it_was_started(house: Installation) -> None:
    narrowed = replace(
        ADA, narrowed=Token("ada", actions=frozenset({"see_audit", "see"}), resources=frozenset({TENANT})), token_id="t"
    )
    job = start(house, narrowed)
    with house.database.read() as transaction:
        assert book.caller_of(book.row_of(transaction, job.id)) == replace(narrowed, address="worker")


def test_jobs_are_seen_by_those_who_started_them_and_by_those_who_see_the_log(house: Installation) -> None:
    with house.write(ADA) as work:
        work.make(Add(Grant("bob", "admin", TENANT)))
    mine, theirs = start(house, BOB), start(house)
    with house.write(ADA) as work:
        work.make(Remove(Grant("bob", "admin", TENANT)))
    with house.read(BOB) as work:
        assert [job.id for job in jobs.page(work)] == [mine.id]
        with pytest.raises(NotFoundError):
            jobs.get(work, theirs.id)
    with house.read(ANN) as work:
        assert [job.id for job in jobs.page(work)] == [theirs.id, mine.id]
        assert [job.id for job in jobs.page(work, before=theirs.id)] == [mine.id]
        assert jobs.page(work, kind=REVIEW) == []


def test_what_is_not_done_has_no_result(house: Installation) -> None:
    job = start(house)
    with pytest.raises(ConflictError, match="not done yet"):
        text(house, job)
    with house.database.write() as transaction:
        book.move(transaction, job.id, {"state": book.FAILED, "error": "because"})
    with pytest.raises(ConflictError, match="because"):
        text(house, job)


def test_who_views_as_somebody_starts_nothing(house: Installation) -> None:
    with pytest.raises(ForbiddenError):
        start(house, replace(ADA, behind="ann"))


@pytest.mark.parametrize(
    ("kind", "wanted", "words"),
    [
        ("cooking", {}, "no kind of job"),
        (REVIEW, {"format": "docx"}, "format"),
        (REVIEW, {"format": 3}, "format"),
        (REVIEW, {"kinds": "lakehouse.table"}, "list of texts"),
        (REVIEW, {"kinds": ["lakehouse.tabel"]}, "no kind"),
        (REVIEW, {"inside": ""}, "inside"),
        (REVIEW, {"where": "x"}, "no field"),
        (AUDIT, {"since": "yesterday"}, "time"),
        (AUDIT, {"member": 3}, "member"),
    ],
)
def test_what_can_never_be_right_is_refused_at_once(
    house: Installation, kind: str, wanted: dict[str, object], words: str
) -> None:
    with pytest.raises(InvalidInputError, match=words):
        start(house, ADA, kind, **wanted)
    with house.read(ADA) as work:
        assert jobs.page(work) == []


def test_a_step_that_is_begun_again_leaves_the_same_behind(house: Installation) -> None:
    job = start(house)
    assert doing.begin(house, job.id) == doing.begin(house, job.id) == {}
    first, second = doing.do(house, job.id), doing.do(house, job.id)
    assert first == second
    doing.end(house, job.id, first)
    doing.end(house, job.id, {"error": "too late"})
    folder = book.folder(house.settings.data, 1)
    assert [file.name for file in folder.iterdir()] == [f"{job.id}.jsonl"]
    with house.read(ADA) as work:
        assert jobs.get(work, job.id).state == "done"


def test_a_job_at_which_workers_die_is_given_up(house: Installation) -> None:
    job = start(house)
    with house.database.write() as transaction:
        book.move(transaction, job.id, {"tries": 3})
    assert "3 times" in str(doing.do(house, job.id)["error"])


def test_results_are_not_kept_for_ever(house: Installation) -> None:
    job = done(house, start(house))
    assert tending.clear_results(house) == 0
    with house.database.write() as transaction:
        book.move(transaction, job.id, {"ended_at": house.clock() - 8 * DAY}, unless=frozenset())
    assert tending.clear_results(house) == 1
    assert list(book.folder(house.settings.data, 1).iterdir()) == []
    with pytest.raises(NotFoundError):
        text(house, job)
