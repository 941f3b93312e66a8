"""Files as they come over a real network: slowly, cut off, two at once, more than fits, and more than memory has."""

from __future__ import annotations

import logging
import os
import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import SimpleQueue

import httpx
import pytest

from lakehold.directory import tokens
from lakehold.directory.platform import Platform
from lakehold.lake.volumes import INTERNAL_FOLDER
from tests.cli.command_runner import serve_platform
from tests.demo_company import DemoPlatform, as_member
from tests.processes import PATIENCE, Process
from tests.runs.workers import worker_environment
from tests.workspaces.lakehouse.test_full_disk import full
from tests.workspaces.lakehouse.test_volumes import deeds, folder_of

FILES = "/api/v1/volumes/clean_files/files"
MANY = 48
"""More than the server has threads."""
LARGE, PART = 256, b"x" * 1_000_000
LITTLE = 48_000
"""Kilobytes that a server may grow by meanwhile."""


class Erik:
    """An editor, and a server that he sends files to."""

    def __init__(self, corner: DemoPlatform, address: str, platform: Platform | None = None) -> None:
        self.corner = corner
        self.address = address
        with (platform or corner).write(as_member("erik")) as ctx:
            self.secret = tokens.create(ctx, "test").secret

    @contextmanager
    def sending(self, path: str, size: int) -> Iterator[socket.socket]:
        """A file that is to come."""
        host, port = self.address.removeprefix("http://").split(":")
        lines = (f"PUT {FILES}/{path} HTTP/1.1", f"Host: {host}", f"Authorization: Bearer {self.secret}")
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as line:
            line.sendall("\r\n".join((*lines, f"Content-Length: {size}", "", "")).encode())
            yield line

    def asks(self, method: str = "GET", path: str = FILES, content: bytes | None = None) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.secret}"}
        return httpx.request(method, f"{self.address}{path}", content=content, headers=headers, timeout=PATIENCE)

    @property
    def seen(self) -> list[str]:
        return [file["path"] for file in self.asks().json()["items"]]

    @property
    def rough(self) -> list[Path]:
        return list((folder_of(self.corner) / INTERNAL_FOLDER).glob("*"))


@pytest.fixture
def erik(corner: DemoPlatform) -> Iterator[Erik]:
    with serve_platform(corner) as address:
        yield Erik(corner, address)


def status(line: socket.socket) -> int:
    """That of the answer, once it is there."""
    return int(line.recv(4_096).split()[1])


@contextmanager
def heard(name: str) -> Iterator[SimpleQueue[logging.LogRecord]]:
    """What is logged under a name, from now on."""
    lines: SimpleQueue[logging.LogRecord] = SimpleQueue()

    class Hearing(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.put(record)

    log, handler = logging.getLogger(name), Hearing()
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield lines
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


def test_many_that_come_slowly_keep_nobody_waiting(erik: Erik) -> None:
    with ExitStack() as stack:
        slow = [stack.enter_context(erik.sending(f"{number}.csv", 2)) for number in range(MANY)]
        for line in slow:
            line.sendall(b"a")
        assert erik.seen == []
        for line in slow:
            line.sendall(b"b")
        assert {status(line) for line in slow} == {201}
    assert len(erik.seen) == MANY
    assert erik.rough == []


def test_a_file_that_is_cut_off_leaves_nothing_and_is_no_fault_of_ours(erik: Erik) -> None:
    with heard("lakehold.requests") as asked, heard("lakehold.errors") as wrong:
        with erik.sending("cut.csv", 1_000) as line:
            line.sendall(b"x" * 500)
        answer = asked.get(timeout=PATIENCE)
        assert vars(answer)["fields"]["status"] == 499
        assert wrong.empty()
    assert (erik.seen, erik.rough, deeds(erik.corner)) == ([], [], [])


def test_of_two_of_one_name_that_come_at_once_one_is_kept(erik: Erik) -> None:
    with erik.sending("a.csv", 2) as one, erik.sending("a.csv", 2) as other:
        for line in (one, other, one, other):
            line.sendall(b"x")
        assert sorted([status(one), status(other)]) == [201, 409]
    assert (erik.seen, erik.rough) == (["a.csv"], [])


def test_what_a_killed_server_has_left_goes_with_the_next_file(erik: Erik) -> None:
    assert erik.asks("PUT", f"{FILES}/first.csv", b"1").status_code == 201
    platform = folder_of(erik.corner) / INTERNAL_FOLDER
    old, young, receipt = (platform / name for name in ("arriving-old", "arriving-young", "receipt.json"))
    for file in (old, young, receipt):
        file.touch()
    for file in (old, receipt):
        os.utime(file, (time.time() - 90_000,) * 2)
    assert erik.asks("PUT", f"{FILES}/second.csv", b"1").status_code == 201
    assert sorted(erik.rough) == [young, receipt]


@pytest.mark.parametrize("size", [0, 1, 200_000])
def test_a_file_that_finds_no_room_is_not_there_and_nothing_says_that_it_was(erik: Erik, size: int) -> None:
    with full(folder_of(erik.corner)):
        (folder_of(erik.corner) / "stuffing").write_bytes(b"x" * 65_536)
        answer = erik.asks("PUT", f"{FILES}/more.csv", b"x" * size)
        if size:
            assert (answer.status_code, "disk is full" in answer.json()["detail"]) == (503, True)
        else:
            assert answer.status_code in {201, 503}
        kept = ["more.csv"] if answer.status_code == 201 else []
        assert (erik.seen, erik.rough) == ([*kept, "stuffing"], [])
    assert len(deeds(erik.corner)) == len(kept)


@pytest.mark.parametrize("corner", ["sqlite"], indirect=True)
def test_a_large_file_takes_no_memory(corner: DemoPlatform) -> None:
    with Process("server", {**worker_environment(corner), "LAKEHOLD_PORT": "0"}) as server:
        found = re.search(r"http://[\d.]+:\d+", server.wait_for_line("running on"))
        assert found
        # Its clock is the machine's.
        platform = Platform(corner.settings)
        erik = Erik(corner, found[0], platform)
        platform.close()
        assert erik.seen == []
        before = _memory(server.process.pid)
        with erik.sending("large.bin", LARGE * len(PART)) as line:
            for _ in range(LARGE):
                line.sendall(PART)
            assert status(line) == 201
        assert _memory(server.process.pid) - before < LITTLE
        assert erik.asks().json()["items"][0]["bytes"] == LARGE * len(PART)


def _memory(pid: int) -> int:
    """The most kilobytes that a process has had so far."""
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1])
