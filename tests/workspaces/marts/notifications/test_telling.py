"""Of a run that has ended each receiver is told once who may see its data mart at that moment, and nobody else."""

from __future__ import annotations

import pytest

from lakehold.access import Attribute, Grant
from lakehold.catalog import resource_edit, resource_metadata
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.lake import readable_tables
from lakehold.runs.scheduler.schedule import TriggerSchedule
from lakehold.runs.scheduler.service import Triggers
from lakehold.workspaces.marts import checks
from lakehold.workspaces.marts.checks import CheckResult
from tests.access.company import TENANT
from tests.house import ADA
from tests.workspaces.marts.notifications.office import BEN, MART, PAM, PROJECT, REPORT, RUNS, TESS, Office

FAILED = "Orders has failed"


def says(office: Office, uid: str, **settings: object) -> None:
    with office.platform.write(ADA) as ctx:
        resource_edit.apply_edit(
            ctx, uid, ResourceEdit(settings={**resource_metadata.load(ctx, uid).settings, **settings})
        )


def looked(office: Office, run: str, *outcomes: tuple[str, str, str], place: int = 1) -> None:
    """The checks came out like this, as the run's step has written it down."""
    with office.platform.read(ADA) as ctx:
        here, at = readable_tables.identifier_of(ctx, MART), office.platform.clock()
    with office.platform.database.write() as transaction:
        found = [CheckResult(*each, at) for each in outcomes]
        checks.save_results(transaction, here.tenant, here.number, f"{run}/{place}", found)


def checked(office: Office, problem: str, *outcomes: tuple[str, str, str], times: int = 1) -> None:
    """A run of the mart whose checks came out like this."""
    with office.platform.write(TESS) as ctx:
        run = RUNS.start(ctx, MART).id
    number = office.begun()
    looked(office, run, *outcomes)
    office.ended(number, problem, times=times)


def test_a_failure_is_told_once_to_those_who_receive_it(office: Office) -> None:
    run = office.ends(MART, "The storage has no table.", times=3)
    assert office.told() == {"pam": [FAILED], "tess": [FAILED]}
    body = office.mails()[0][2]
    base = office.platform.settings.base_url
    assert body == (
        "Orders was run by hand and has failed.\n\nThe storage has no table.\n\n"
        f"{base}/runs/{run}\n\nWho is told of this: {base}/workspaces/sales/notifications\n"
    )


def test_who_started_a_run_is_told_only_if_they_receive_it(office: Office) -> None:
    office.ends(REPORT, "No rows.", by=BEN)
    assert set(office.told()) == {"pam", "tess"}
    office.choose(BEN, "ben", failed_runs=True)
    office.choose(TESS, "tess", failed_runs=False)
    office.forget()
    office.ends(REPORT, "No rows.", by=BEN)
    assert office.told() == {"ben": ["Weekly has failed"], "pam": ["Weekly has failed"]}


def test_who_may_not_see_the_mart_is_not_told_though_they_own_the_report(office: Office) -> None:
    office.choose(BEN, "ben", failed_runs=True, succeeded_runs=True)
    office.switch(succeeded_runs=True)
    office.becomes("ned", "technical_user")
    with office.platform.write(BEN) as ctx:
        RUNS.start(ctx, REPORT)
    number = office.begun()
    # Meanwhile it is nobody's but Tess's and the admins'. Ben still sees his report.
    office.shared(reporting=False)
    office.ended(number, "You may not run report Weekly.")
    with office.platform.read(BEN) as ctx:
        assert ctx.session.check("ben", "see", REPORT)
    assert set(office.told()) == {"pam", "tess"}
    office.forget()
    office.shared(reporting=True)
    office.ends(REPORT, by=BEN)
    assert set(office.told()) == {"ben", "ned", "pam", "tess"}


def test_a_context_that_is_not_theirs_hides_the_mart_from_receivers(office: Office) -> None:
    with office.platform.access.write(TENANT) as session:
        session.store.create("marts.context", "North", uid="north", edges={"project": PROJECT})
        session.store.add(Grant("ned", "technical_user", PROJECT))
        session.store.add(Attribute(PROJECT, "scope", "selected_contexts", "ned"))
    office.ends(MART, "No.")
    assert set(office.told()) == {"pam", "tess"}


def test_channels_that_are_off_tell_nobody(office: Office) -> None:
    says(office, MART, notify=["ben"])
    office.switch(failed_runs=False, broken_checks=False)
    checked(office, "No.", ("unique id", "broken", "2 rows"))
    assert office.told() == {}


def test_success_is_told_where_it_is_wanted(office: Office) -> None:
    office.ends(MART)
    assert office.told() == {}
    office.switch(succeeded_runs=True)
    says(office, MART, notify=["ben"])
    office.ends(MART, times=2)
    # Whom the mart names is told of what goes wrong.
    assert office.told() == {"pam": ["Orders has succeeded"], "tess": ["Orders has succeeded"]}


def test_broken_checks_are_told_with_what_was_found(office: Office) -> None:
    office.choose(BEN, "ben", broken_checks=True)
    found = (("unique id", "broken", "2 rows are alike"), ("not null id", "kept", ""), ("fresh", "unknown", "no field"))
    checked(office, "", *found, times=2)
    subject = "Orders has broken checks"
    assert office.told() == {"ben": [subject], "pam": [subject], "tess": [subject]}
    body = office.mails()[0][2]
    assert "- unique id: 2 rows are alike\n- fresh: no field\n" in body
    assert "not null" not in body


def test_nobody_gets_two_mails_of_one_run(office: Office) -> None:
    office.switch(succeeded_runs=True)
    office.choose(PAM, "tess", failed_runs=False)
    office.choose(PAM, "ben", succeeded_runs=True)
    broken = ("unique id", "broken", "2 rows are alike")
    checked(office, "A check of the data mart is broken.", broken)
    assert office.told() == {"pam": [FAILED], "tess": ["Orders has broken checks"]}
    assert "- unique id" in office.mails()[0][2]
    office.forget()
    checked(office, "", broken)
    assert office.told() == {
        "ben": ["Orders has succeeded"],
        "pam": ["Orders has broken checks"],
        "tess": ["Orders has broken checks"],
    }


def test_a_run_that_is_resumed_does_not_tell_of_checks_of_the_time_before(office: Office) -> None:
    with office.platform.write(TESS) as ctx:
        run = RUNS.start(ctx, MART).id
    number = office.begun()
    looked(office, run, ("unique id", "broken", "2 rows"))
    office.ended(number, "A check of the data mart is broken.")
    office.forget()
    with office.platform.write(TESS) as ctx:
        RUNS.resume(ctx, run)
    office.ended(office.begun(), "The storage is gone.")
    assert office.told() == {"pam": [FAILED], "tess": [FAILED]}
    assert all("unique id" not in body for _, _, body in office.mails())


def test_those_that_a_mart_names_are_told_too_if_they_may_see_it(office: Office) -> None:
    says(office, MART, notify=["ben", "ned", "nobody", PROJECT, "pam"])
    office.ends(MART, "No.")
    assert office.told() == {"ben": [FAILED], "pam": [FAILED], "tess": [FAILED]}
    says(office, MART, notify="ben")
    office.forget()
    office.ends(MART, "No.")
    assert set(office.told()) == {"pam", "tess"}


def test_of_a_run_that_was_stopped_nothing_is_told(office: Office) -> None:
    office.ends(MART, "It was stopped.")
    assert office.told() == {}


@pytest.mark.parametrize("gone", ["ben", "tess"])
def test_a_scheduled_run_whose_person_is_gone_is_told_to_those_who_are_there(office: Office, gone: str) -> None:
    triggers = Triggers(RUNS)
    by, what = (BEN, REPORT) if gone == "ben" else (TESS, MART)
    with office.platform.write(by) as ctx:
        triggers.save(ctx, what, TriggerSchedule("0 6 * * *"))
        RUNS.start(ctx, what)
    with office.platform.access.write(TENANT) as session:
        session.store.delete(gone)
    office.ended(office.begun(), "There is no member.")
    assert set(office.told()) == {"pam", "tess"} - {gone}


def test_which_run_it_came_after_is_not_named(office: Office) -> None:
    with office.platform.write(TESS) as ctx:
        first = RUNS.start(ctx, MART)
    office.ended(office.begun(), "No.")
    office.forget()
    with office.platform.write(TESS) as ctx:
        RUNS.retry(ctx, first.id)
    office.ended(office.begun(), "No.")
    body = office.mails()[0][2]
    assert body.startswith("Orders was run again after another run and has failed.")
    assert first.id not in body
