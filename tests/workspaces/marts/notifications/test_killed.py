"""A worker is killed while it tells of a run, or right after it: another one goes on, and everybody gets one mail."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import Iterator

import pytest

from tests.pipeline.crashes.worker import PLAN, PORT
from tests.processes import PATIENCE, Process
from tests.runs.workers import known, worker
from tests.smtp import Sink, sink
from tests.workspaces.marts.notifications.office import MART, RUNS, TESS, Office

pytestmark = pytest.mark.slow


@pytest.fixture
def post() -> Iterator[Sink]:
    with sink() as made:
        yield made


def held(office: Office, run: str, point: str, post: Sink) -> None:
    """A worker comes to the point, and is killed there."""
    with socket.create_server(("127.0.0.1", 0)) as ear:
        ear.settimeout(PATIENCE)
        plan = {PLAN: json.dumps({run: point}), PORT: str(ear.getsockname()[1]), "LAKEHOLD_SMTP": post.url}
        with Process("", {**known(office.platform), **plan}, module="tests.pipeline.crashes.worker") as first:
            there, _ = ear.accept()
            with there:
                assert there.makefile().read() == run
            assert first.end(signal.SIGKILL) == -signal.SIGKILL


@pytest.mark.parametrize("point", ["told", "ended"])
def test_everybody_is_told_once(office: Office, post: Sink, point: str) -> None:
    office.becomes("ned", "technical_user")
    with office.platform.write(TESS) as ctx:
        run = RUNS.start(ctx, MART).id
    # So that its begin is refused, and there is nothing for Spark to do.
    office.becomes("tess", "business_user")
    held(office, run, point, post)
    # What was not committed is not there; what was, is.
    assert set(office.told()) == (set() if point == "told" else {"ned", "pam"})
    with worker(office.platform, LAKEHOLD_SMTP=post.url) as second:
        second.hear(f"run {run} has failed")
        mails = [post.next(), post.next()]
        assert second.end() == 0
    assert sorted(str(mail["To"]) for mail in mails) == ["ned@x.test", "pam@x.test"]
    assert all("You may not edit data mart Orders" in mail.get_content() for mail in mails)
    assert post.taken.empty()
    assert office.told() == {"ned": ["Orders has failed"], "pam": ["Orders has failed"]}
