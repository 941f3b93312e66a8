"""A worker is killed while it tells of a run, or right after it: another one goes on, and everybody gets one mail."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import Iterator

import pytest

from tests.lake.crashes.worker import PLAN, PORT
from tests.processes import PATIENCE, Process
from tests.runs.workers import start_worker, worker_environment
from tests.smtp import MailServer, mail_server
from tests.workspaces.marts.notifications.sales_project import MART, RUNS, TESS, SalesProject

pytestmark = [pytest.mark.slow, pytest.mark.rare]


@pytest.fixture
def post() -> Iterator[MailServer]:
    with mail_server() as made:
        yield made


def held(sales_project: SalesProject, run: str, point: str, post: MailServer) -> None:
    """A worker comes to the point, and is killed there."""
    with socket.create_server(("127.0.0.1", 0)) as ear:
        ear.settimeout(PATIENCE)
        plan = {PLAN: json.dumps({run: point}), PORT: str(ear.getsockname()[1]), "LAKEHOLD_SMTP": post.url}
        with Process(
            "", {**worker_environment(sales_project.platform), **plan}, module="tests.lake.crashes.worker"
        ) as first:
            there, _ = ear.accept()
            with there:
                assert there.makefile().read() == run
            assert first.stop(signal.SIGKILL) == -signal.SIGKILL


@pytest.mark.parametrize("point", ["told", "ended"])
def test_everybody_is_told_once(sales_project: SalesProject, post: MailServer, point: str) -> None:
    sales_project.set_role("ned", "technical_user")
    with sales_project.platform.write(TESS) as ctx:
        run = RUNS.start(ctx, MART).id
    # So that its begin is refused, and there is nothing for Spark to do.
    sales_project.set_role("tess", "business_user")
    held(sales_project, run, point, post)
    # What was not committed is not there; what was, is.
    assert set(sales_project.subjects_by_recipient()) == (set() if point == "told" else {"ned", "pam"})
    with start_worker(sales_project.platform, LAKEHOLD_SMTP=post.url) as second:
        second.wait_for_line(f"run {run} has failed")
        mails = [post.next_mail(), post.next_mail()]
        assert second.stop() == 0
    assert sorted(str(mail["To"]) for mail in mails) == ["ned@x.test", "pam@x.test"]
    assert all("You may not edit data mart Orders" in mail.get_content() for mail in mails)
    assert post.accepted.empty()
    assert sales_project.subjects_by_recipient() == {"ned": ["Orders has failed"], "pam": ["Orders has failed"]}
