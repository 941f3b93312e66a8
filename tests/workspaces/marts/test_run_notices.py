"""A refresh that really fails, and a check that really breaks, really mail those who receive them and see the mart."""

from __future__ import annotations

from collections.abc import Iterator
from email.message import EmailMessage

import pytest
from pydantic import SecretStr

from lakehold.access import Add, Attribute, Grant, Remove
from lakehold.directory import members
from lakehold.kit.clock import DAY
from lakehold.ledger import outbox
from lakehold.runs import notifications
from lakehold.runs.scheduler.due import DueTriggers
from lakehold.runs.scheduler.schedule import TriggerSchedule
from lakehold.runs.scheduler.service import Triggers
from lakehold.workspaces.marts.notifications import receivers
from tests.lake.shop import ADA, ED, RITA, TENANT
from tests.smtp import MailServer, mail_server
from tests.workspaces.lakehouse.inline_runs import RUNS
from tests.workspaces.marts.project import SALES, MartsProject

pytestmark = pytest.mark.slow
WRONG = "SELECT salary FROM raw.orders"


@pytest.fixture
def post(here: MartsProject) -> Iterator[MailServer]:
    """A mail server; and Sam is a Technical User who sees what is shared in the context north, Pat the admin."""
    platform = here.inline_runs.shop.platform
    before = platform.settings
    with platform.access.write(TENANT) as session:
        if session.current_view().ids.get("pat") is None:
            session.store.create("tenant.member", "Pat", uid="pat", edges={"tenant": TENANT})
        session.store.add(Grant("pat", "admin", "sales"))
        session.store.add(Grant("sam", "technical_user", "sales"))
        session.store.add(Attribute("sales", "scope", "selected_contexts", "sam"))
    with platform.write(ADA) as ctx:
        for member in ("ada", "ed", "rita", "sam", "pat"):
            members.set_email(ctx, member, f"{member}@x.test")
    with mail_server() as made:
        platform.settings = before.model_copy(update={"smtp": SecretStr(made.url)})
        yield made
    platform.settings = before
    with platform.access.write(TENANT) as session:
        for grant in (Grant("pat", "admin", "sales"), Grant("sam", "technical_user", "sales")):
            session.store.remove(grant)


def arrived(here: MartsProject, post: MailServer) -> dict[str, EmailMessage]:
    """What waits in the outbox is sent, and has come to whom."""
    platform = here.inline_runs.shop.platform
    with platform.database.read() as transaction:
        waiting = outbox.due_messages(transaction, platform.clock(), limit=100)
    for mail in waiting:
        problem = notifications.send(platform, mail.id, mail.tries)
        notifications.record_result(platform, mail.id, mail.tries, problem)
        assert problem == ""
    found = [post.next_mail() for _ in waiting]
    assert post.accepted.empty()
    by_receiver = {str(mail["To"]).partition("@")[0]: mail for mail in found}
    assert len(by_receiver) == len(found), "Somebody was told twice."
    return by_receiver


def chosen(here: MartsProject, member: str, **choices: bool | None) -> None:
    with here.inline_runs.shop.platform.write(ADA) as ctx:
        receivers.set_subscription(ctx, "sales", member, choices)


def test_a_refresh_that_fails_mails_just_the_right_people(here: MartsProject, post: MailServer) -> None:
    mart = here.mart({"by": "sql", "sql": WRONG}, name="Salaries of all")
    run = here.run(mart, by=ED)
    assert run.state == "failed"
    mails = arrived(here, post)
    # Sam is subscribed and does not see the mart, Rita sees it and is not subscribed, Ada has not joined.
    assert set(mails) == {"ed", "pat"}
    text = mails["pat"].get_content()
    assert mails["pat"]["Subject"] == "Salaries of all has failed"
    assert run.error.splitlines()[0] in text
    assert f"/runs/{run.id}" in text
    chosen(here, "rita", failed_runs=True)
    chosen(here, "ed", failed_runs=False)
    with here.inline_runs.shop.platform.access.write(TENANT) as session:
        session.store.add(Attribute("sales", "scope", "entire_project", "sam"))
    here.run(mart, by=ED)
    assert set(arrived(here, post)) == {"pat", "rita", "sam"}
    for member in ("ed", "rita"):
        chosen(here, member, failed_runs=None)


def test_a_check_that_breaks_mails_what_was_found(here: MartsProject, post: MailServer) -> None:
    checks = [{"check": "row count", "least": 1000}, {"check": "unique", "fields": ["id"]}]
    mart = here.mart({"by": "sql", "sql": SALES, "checks": checks})
    assert here.run(mart, by=ED).state == "succeeded"
    mails = arrived(here, post)
    assert set(mails) == {"ed", "pat"}
    assert mails["ed"]["Subject"] == f"{mart} has failed checks"
    text = mails["ed"].get_content()
    assert "- row count: there are 100 rows, expected at least 1,000" in text
    assert "unique" not in text


def test_a_scheduled_report_whose_owner_lost_the_mart_tells_receivers_and_not_the_destination(
    here: MartsProject, post: MailServer
) -> None:
    platform, triggers, firing = here.inline_runs.shop.platform, Triggers(RUNS), DueTriggers(RUNS)
    mart = here.create_refreshed_mart({"by": "sql", "sql": SALES})
    to = here.destination({"to": "mail", "receivers": ["board@x.test"], "kind": "csv"})
    report = here.report(mart, to, {"columns": ["id"]})
    chosen(here, "rita", failed_runs=True)
    with platform.write(RITA) as ctx:
        triggers.save(ctx, report, TriggerSchedule("0 6 * * *"))
    with platform.write(ED) as ctx:
        ctx.make(Remove(Attribute(mart, "shared_for_reporting", "true")))
    assert firing.start_due(platform, platform.clock() + DAY) == 1
    with platform.read(ADA) as ctx:
        run = RUNS.page(ctx, resource=report, limit=1)[0].id
    assert here.inline_runs.execute(run).state == "failed"
    mails = arrived(here, post)
    # Rita still owns her report. What became of its run is for those who see the mart.
    assert set(mails) == {"ed", "pat"}
    text = mails["pat"].get_content().replace("\n", " ")
    assert f"You may not run report {report}" in text
    assert "Missing: " in text
    with platform.write(RITA) as ctx:
        for each in triggers.for_resource(ctx, report):
            triggers.delete(ctx, each.id)
    with platform.write(ED) as ctx:
        ctx.make(Add(Attribute(mart, "shared_for_reporting", "true")))
    chosen(here, "rita", failed_runs=None)
