"""Whoever waits for a worker keeps nobody else waiting: each person has so many places, and threads are left for all
else, whatever the worker does.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from lakehold import workspaces
from lakehold.access import Grant
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from lakehold.kit.slots import Slots
from lakehold.runs import heartbeat
from lakehold.web import app_factory
from tests.access.company import TENANT
from tests.cli.command_runner import CommandRunner, running

CALLS = 45
"""More than a server has threads for all its requests, if nobody gives it others."""
DESCRIBE = ("/api/v1/queries/describe", {"workspace": "shop", "sql": "SELECT 1"})


@dataclass(frozen=True)
class Server:
    """A server whose worker takes every call and answers none."""

    platform: Platform
    address: str
    worker: socket.socket
    way: CommandRunner

    def client(self, member: str) -> httpx.Client:
        headers = {"authorization": f"Bearer {self.way.token(member)}"}
        return httpx.Client(base_url=self.address, headers=headers, timeout=300, limits=httpx.Limits())

    @contextmanager
    def waiting(self, count: int) -> Iterator[list[Future[httpx.Response]]]:
        """Let Rita wait for so many descriptions."""
        with ExitStack() as stack:
            client = stack.enter_context(self.client("rita"))
            pool = stack.enter_context(ThreadPoolExecutor(count))
            calls = [pool.submit(client.post, DESCRIBE[0], json=DESCRIBE[1]) for _ in range(count)]
            taken = [self.worker.accept()[0] for _ in range(count)]
            try:
                yield calls
            finally:
                for each in taken:
                    each.close()


@pytest.fixture
def stuck(template_file: Path, tmp_path: Path) -> Iterator[Server]:
    """Rita may wait for as many answers as a server has threads, and more."""
    url = f"sqlite:///{tmp_path / 'lakehold.sqlite'}"
    (tmp_path / "lakehold.sqlite").write_bytes(template_file.read_bytes())
    with ExitStack() as stack:
        platform = Platform(Settings(data=tmp_path / "data", database=url, queries_at_once=CALLS))
        stack.callback(platform.close)
        platform.access.create_tenant(TENANT, "Acme", workspaces.models())
        with platform.access.write(TENANT) as session:
            session.store.create("lakehouse.lakehouse", "Shop", uid="shop", edges={"tenant": TENANT})
            for member in ("rita", "ed"):
                session.store.create("tenant.member", member.title(), uid=member, edges={"tenant": TENANT})
                session.store.add(Grant(member, "member", "shop"))
        worker = stack.enter_context(socket.socket())
        worker.bind(("127.0.0.1", 0))
        worker.listen(CALLS)
        worker.settimeout(120)
        with platform.database.write() as transaction:
            heartbeat.register_worker(transaction, "silent", f"http://127.0.0.1:{worker.getsockname()[1]}")
        address = stack.enter_context(running(app_factory.create_web_app(platform), platform.settings))
        yield Server(platform, address, worker, CommandRunner(platform, address))


def test_pages_are_answered_while_all_wait_for_a_worker(stuck: Server) -> None:
    with stuck.waiting(CALLS) as calls, stuck.client("ed") as ed:
        assert ed.get("/api/v1/me").status_code == 200
        assert "Shop" in ed.get("/", headers={"accept": "text/html"}).text
        assert not any(call.done() for call in calls)
        # Rita has as many as she may, whatever she asks of the worker.
        with stuck.client("rita") as rita:
            for path, body in (DESCRIBE, ("/api/v1/queries", DESCRIBE[1])):
                refused = rita.post(path, json=body)
                assert (refused.status_code, refused.json()["code"]) == (429, "limit_reached")
                assert f"You have {CALLS} queries" in refused.json()["detail"]
            assert rita.get("/api/v1/me").status_code == 200
    assert {call.result().status_code for call in calls} == {503}
    assert stuck.platform.worker_calls.total >= 2 * CALLS


def test_all_together_have_so_many(stuck: Server) -> None:
    stuck.platform.worker_calls = Slots("queries or tests", 2, 2)
    with stuck.waiting(2), stuck.client("ed") as ed:
        refused = ed.post(DESCRIBE[0], json=DESCRIBE[1])
        assert (refused.status_code, refused.json()["code"]) == (429, "limit_reached")
        assert "Too many" in refused.json()["detail"]
