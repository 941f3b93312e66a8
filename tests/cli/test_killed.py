"""A server that is killed while many write: what it said is done is done, and the audit log is whole."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Event

import httpx

from lakehold.directory import tokens
from lakehold.directory.platform import Platform
from lakehold.ledger.audit import AuditFilter
from tests.access.company import TENANT
from tests.platform import ADA
from tests.processes import Process, children

WRITERS = 4
ENOUGH = 8
"""So many changes of each writer are acknowledged before the server is killed."""


class Writer:
    """Makes members, one after the other, and remembers what was acknowledged."""

    def __init__(self, address: str, token: str, name: str) -> None:
        self.acknowledged: list[str] = []
        self.stop, self.enough = Event(), Event()
        self._target = ENOUGH
        self._name = name
        self._client = httpx.Client(base_url=address, headers={"authorization": f"Bearer {token}"}, timeout=120)

    def again(self) -> None:
        """As many once more."""
        self._target = len(self.acknowledged) + ENOUGH
        self.enough.clear()

    def write(self) -> None:
        with self._client:
            for number in count():
                if self.stop.is_set():
                    return
                uid = f"{self._name}-{number}"
                try:
                    answer = self._client.post("/api/v1/members", json={"name": uid, "id": uid})
                except httpx.TransportError:
                    # The one that was on its way when the server died: done or not, but not half.
                    continue
                if answer.status_code == 201:
                    self.acknowledged.append(uid)
                if len(self.acknowledged) >= self._target:
                    self.enough.set()


def test_nothing_that_was_acknowledged_is_lost(platform: Platform) -> None:
    with platform.write(ADA) as ctx:
        token = tokens.create(ctx, "load").secret
    settings = platform.settings
    known = {"LAKEHOLD_DATA": str(settings.data), "LAKEHOLD_DATABASE": settings.database_url, "LAKEHOLD_PORT": "0"}
    with Process("up", known) as process:
        address_line, _ = process.wait_for_lines("running at", "is ready")
        address = address_line.split()[-1]
        writers = [Writer(address, token, f"w{n}") for n in range(WRITERS)]
        with ThreadPoolExecutor(WRITERS) as pool:
            running = [pool.submit(writer.write) for writer in writers]
            for _ in range(2):
                for writer in writers:
                    assert writer.enough.wait(120)
                os.kill(children(process.process.pid)["server"], signal.SIGKILL)
                process.wait_for_line("the server ended (by SIGKILL)")
                # Whoever waits at the open port is answered by the next server.
                assert httpx.get(f"{address}/readyz", timeout=120).status_code == 200
                for writer in writers:
                    writer.again()
            for writer in writers:
                assert writer.enough.wait(120)
                writer.stop.set()
            for done in running:
                done.result(120)
        assert process.stop() == 0
    check(platform, writers)


def check(platform: Platform, writers: list[Writer]) -> None:
    with platform.read(ADA) as ctx:
        assert not ctx.audit.verify().fault
        made = {line.entry.resource for line in ctx.audit.page(AuditFilter(action="create"), limit=10_000)}
        there = {ctx.view.uid(number) for number in ctx.view.members}
        acknowledged = {uid for writer in writers for uid in writer.acknowledged}
        assert len(acknowledged) >= 3 * ENOUGH * WRITERS
        assert acknowledged <= there
        assert acknowledged <= made
        # What was on its way is there with its line in the log, or neither is.
        assert {uid for uid in there if uid.startswith("w")} == {uid for uid in made if uid.startswith("w")}
        assert ctx.session.check("ada", "see", TENANT)
