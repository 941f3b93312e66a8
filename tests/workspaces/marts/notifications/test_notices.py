"""Of a run that has ended each receiver is told once who may see its data mart at that moment, and nobody else."""

from __future__ import annotations

import pytest

from lakehold.access import Attribute, Grant
from lakehold.catalog import resource_edit, resource_metadata
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.kit.errors import InvalidInputError
from lakehold.lake import readable_tables
from lakehold.runs.scheduler.schedule import TriggerSchedule
from lakehold.runs.scheduler.service import Triggers
from lakehold.workspaces.marts import checks
from lakehold.workspaces.marts.checks import CheckResult
from tests.access.company import TENANT
from tests.platform import ADA
from tests.workspaces.marts.notifications.sales_project import BEN, MART, PAM, PROJECT, REPORT, RUNS, TESS, SalesProject

FAILED = "Orders has failed"


def says(sales_project: SalesProject, uid: str, **settings: object) -> None:
    with sales_project.platform.write(ADA) as ctx:
        resource_edit.apply_edit(
            ctx, uid, ResourceEdit(settings={**resource_metadata.load(ctx, uid).settings, **settings})
        )


def looked(sales_project: SalesProject, run: str, *outcomes: tuple[str, str, str], place: int = 1) -> None:
    """The checks came out like this, as the run's step has written it down."""
    with sales_project.platform.read(ADA) as ctx:
        here, at = readable_tables.identifier_of(ctx, MART), sales_project.platform.clock()
    with sales_project.platform.database.write() as transaction:
        found = [CheckResult(*each, at) for each in outcomes]
        checks.save_results(transaction, here.tenant, here.number, f"{run}/{place}", found)


def checked(sales_project: SalesProject, problem: str, *outcomes: tuple[str, str, str], times: int = 1) -> None:
    """A run of the mart whose checks came out like this."""
    with sales_project.platform.write(TESS) as ctx:
        run = RUNS.start(ctx, MART).id
    number = sales_project.claim_next_run()
    looked(sales_project, run, *outcomes)
    sales_project.end_run(number, problem, times=times)


def test_a_failure_is_told_once_to_those_who_receive_it(sales_project: SalesProject) -> None:
    run = sales_project.run_to_end(MART, "The storage has no table.", times=3)
    assert sales_project.subjects_by_recipient() == {"pam": [FAILED], "tess": [FAILED]}
    body = sales_project.mails()[0][2]
    base = sales_project.platform.settings.base_url
    assert body == (
        "Orders has failed.\n\nThe storage has no table.\n\nTrigger: Manual\n\n"
        f"{base}/runs/{run}\n\nNotification settings: {base}/workspaces/sales/notifications\n"
    )


def test_who_started_a_run_is_told_only_if_they_receive_it(sales_project: SalesProject) -> None:
    sales_project.run_to_end(REPORT, "No rows.", by=BEN)
    assert set(sales_project.subjects_by_recipient()) == {"pam", "tess"}
    sales_project.choose(BEN, "ben", failed_runs=True)
    sales_project.choose(TESS, "tess", failed_runs=False)
    sales_project.clear_mails()
    sales_project.run_to_end(REPORT, "No rows.", by=BEN)
    assert sales_project.subjects_by_recipient() == {"ben": ["Weekly has failed"], "pam": ["Weekly has failed"]}


def test_who_may_not_see_the_mart_is_not_told_though_they_own_the_report(sales_project: SalesProject) -> None:
    sales_project.choose(BEN, "ben", failed_runs=True, succeeded_runs=True)
    sales_project.switch(succeeded_runs=True)
    sales_project.set_role("ned", "technical_user")
    with sales_project.platform.write(BEN) as ctx:
        RUNS.start(ctx, REPORT)
    number = sales_project.claim_next_run()
    # Meanwhile it is nobody's but Tess's and the admins'. Ben still sees his report.
    sales_project.set_shared(reporting=False)
    sales_project.end_run(number, "You may not run report Weekly.")
    with sales_project.platform.read(BEN) as ctx:
        assert ctx.session.check("ben", "see", REPORT)
    assert set(sales_project.subjects_by_recipient()) == {"pam", "tess"}
    sales_project.clear_mails()
    sales_project.set_shared(reporting=True)
    sales_project.run_to_end(REPORT, by=BEN)
    assert set(sales_project.subjects_by_recipient()) == {"ben", "ned", "pam", "tess"}


def test_a_context_that_is_not_theirs_hides_the_mart_from_receivers(sales_project: SalesProject) -> None:
    with sales_project.platform.access.write(TENANT) as session:
        session.store.create("marts.context", "North", uid="north", edges={"project": PROJECT})
        session.store.add(Grant("ned", "technical_user", PROJECT))
        session.store.add(Attribute(PROJECT, "scope", "selected_contexts", "ned"))
    sales_project.run_to_end(MART, "No.")
    assert set(sales_project.subjects_by_recipient()) == {"pam", "tess"}


def test_channels_that_are_off_tell_nobody(sales_project: SalesProject) -> None:
    says(sales_project, MART, notify=["ben"])
    sales_project.switch(failed_runs=False, broken_checks=False)
    checked(sales_project, "No.", ("unique id", "broken", "2 rows"))
    assert sales_project.subjects_by_recipient() == {}


def test_success_is_told_where_it_is_wanted(sales_project: SalesProject) -> None:
    sales_project.run_to_end(MART)
    assert sales_project.subjects_by_recipient() == {}
    sales_project.switch(succeeded_runs=True)
    says(sales_project, MART, notify=["ben"])
    sales_project.run_to_end(MART, times=2)
    # Whom the mart names is told of what goes wrong.
    assert sales_project.subjects_by_recipient() == {"pam": ["Orders has succeeded"], "tess": ["Orders has succeeded"]}


def test_broken_checks_are_told_with_what_was_found(sales_project: SalesProject) -> None:
    sales_project.choose(BEN, "ben", broken_checks=True)
    found = (("unique id", "broken", "2 rows are alike"), ("not null id", "kept", ""), ("fresh", "unknown", "no field"))
    checked(sales_project, "", *found, times=2)
    subject = "Orders has failed checks"
    assert sales_project.subjects_by_recipient() == {"ben": [subject], "pam": [subject], "tess": [subject]}
    body = sales_project.mails()[0][2]
    assert "- unique id: 2 rows are alike\n- fresh: no field\n" in body
    assert "not null" not in body


def test_nobody_gets_two_mails_of_one_run(sales_project: SalesProject) -> None:
    sales_project.switch(succeeded_runs=True)
    sales_project.choose(PAM, "tess", failed_runs=False)
    sales_project.choose(PAM, "ben", succeeded_runs=True)
    broken = ("unique id", "broken", "2 rows are alike")
    checked(sales_project, "A data quality check failed.", broken)
    assert sales_project.subjects_by_recipient() == {"pam": [FAILED], "tess": ["Orders has failed checks"]}
    assert "- unique id" in sales_project.mails()[0][2]
    sales_project.clear_mails()
    checked(sales_project, "", broken)
    assert sales_project.subjects_by_recipient() == {
        "ben": ["Orders has succeeded"],
        "pam": ["Orders has failed checks"],
        "tess": ["Orders has failed checks"],
    }


def test_a_run_that_is_resumed_does_not_tell_of_checks_of_the_time_before(sales_project: SalesProject) -> None:
    with sales_project.platform.write(TESS) as ctx:
        run = RUNS.start(ctx, MART).id
    number = sales_project.claim_next_run()
    looked(sales_project, run, ("unique id", "broken", "2 rows"))
    sales_project.end_run(number, "A data quality check failed.")
    sales_project.clear_mails()
    with sales_project.platform.write(TESS) as ctx:
        RUNS.resume(ctx, run)
    sales_project.end_run(sales_project.claim_next_run(), "The storage is gone.")
    assert sales_project.subjects_by_recipient() == {"pam": [FAILED], "tess": [FAILED]}
    assert all("unique id" not in body for _, _, body in sales_project.mails())


def test_those_that_a_mart_names_are_told_too_if_they_may_see_it(sales_project: SalesProject) -> None:
    says(sales_project, MART, notify=["ben", "ned", "nobody", PROJECT, "pam"])
    sales_project.run_to_end(MART, "No.")
    assert sales_project.subjects_by_recipient() == {"ben": [FAILED], "pam": [FAILED], "tess": [FAILED]}
    with pytest.raises(InvalidInputError, match="notify of the data mart must be a list"):
        says(sales_project, MART, notify="ben")


def test_of_a_run_that_was_stopped_nothing_is_told(sales_project: SalesProject) -> None:
    with sales_project.platform.write(TESS) as ctx:
        run = RUNS.start(ctx, MART).id
    number = sales_project.claim_next_run()
    with sales_project.platform.write(TESS) as ctx:
        RUNS.stop(ctx, run)
    sales_project.end_run(number, "It was stopped.")
    assert sales_project.subjects_by_recipient() == {}


@pytest.mark.parametrize("gone", ["ben", "tess"])
def test_a_scheduled_run_whose_person_is_gone_is_told_to_those_who_are_there(
    sales_project: SalesProject, gone: str
) -> None:
    triggers = Triggers(RUNS)
    by, what = (BEN, REPORT) if gone == "ben" else (TESS, MART)
    with sales_project.platform.write(by) as ctx:
        triggers.save(ctx, what, TriggerSchedule("0 6 * * *"))
        RUNS.start(ctx, what)
    with sales_project.platform.access.write(TENANT) as session:
        session.store.delete(gone)
    sales_project.end_run(sales_project.claim_next_run(), "There is not a member.")
    assert set(sales_project.subjects_by_recipient()) == {"pam", "tess"} - {gone}


def test_which_run_it_came_after_is_not_named(sales_project: SalesProject) -> None:
    with sales_project.platform.write(TESS) as ctx:
        first = RUNS.start(ctx, MART)
    sales_project.end_run(sales_project.claim_next_run(), "No.")
    sales_project.clear_mails()
    with sales_project.platform.write(TESS) as ctx:
        RUNS.retry(ctx, first.id)
    sales_project.end_run(sales_project.claim_next_run(), "No.")
    body = sales_project.mails()[0][2]
    assert body.startswith("Orders has failed.\n\nNo.\n\nTrigger: Retry of another run\n")
    assert first.id not in body
