"""`lakehold up`: everything in one go, and nothing left of it afterwards."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from lakehold.ledger import outbox
from tests.processes import Process, all_ended, children, open_process_handles
from tests.smtp import mail_server

_READY = {"server": "Application startup complete", "worker": "is ready", "query-worker": "answers queries"}
"""What each process says when it can be used."""


class Up:
    """`lakehold up` that has said where it answers."""

    def __init__(self, folder: Path, **more: str) -> None:
        self.process = Process("up", {"LAKEHOLD_DATA": str(folder), "LAKEHOLD_PORT": "0", **more})
        try:
            address_line, *_ = self.process.wait_for_lines("running at", "is ready", "answers queries")
        except BaseException:
            self.process.__exit__()
            raise
        self.address = address_line.split()[-1]

    def get(self, path: str) -> httpx.Response:
        return httpx.get(f"{self.address}{path}", timeout=60)

    def children(self) -> dict[str, int]:
        return children(self.process.process.pid)


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    begun = Up(tmp_path / "data")
    with begun.process:
        yield begun


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_answers_and_one_signal_stops_it_all(up: Up, number: signal.Signals) -> None:
    assert up.get("/healthz").json() == {"status": "ok"}
    assert up.get("/readyz").status_code == 200
    found = up.children()
    assert found.keys() == {"server", "worker", "query-worker"}
    with open_process_handles(*found.values()) as handles:
        assert up.process.stop(number) == 0
        assert all_ended(handles)
    with pytest.raises(httpx.ConnectError):
        up.get("/healthz")


def test_the_key_is_for_its_owner_alone(up: Up, tmp_path: Path) -> None:
    assert up.process.stop() == 0
    assert (tmp_path / "data" / "key").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("verb", ["server", "worker", "query-worker"])
def test_what_dies_is_started_again(up: Up, verb: str) -> None:
    before = up.children()[verb]
    os.kill(before, signal.SIGKILL)
    up.process.wait_for_line(f"the {verb} ended (by SIGKILL)")
    # Nobody is refused meanwhile: the port stays open, and who comes waits.
    assert up.get("/healthz").status_code == 200
    up.process.wait_for_line(_READY[verb])
    assert up.children()[verb] != before
    assert up.process.stop() == 0


def test_children_do_not_outlive_whoever_started_them(up: Up) -> None:
    with open_process_handles(*up.children().values()) as handles:
        assert up.process.stop(signal.SIGKILL) == -signal.SIGKILL
        assert all_ended(handles)


def test_a_second_signal_waits_for_nobody(tmp_path: Path) -> None:
    with mail_server() as post:
        post.accepting.clear()
        begun = Up(tmp_path / "data", LAKEHOLD_SMTP=post.url)
        with begun.process as process:
            platform = Platform(Settings(data=tmp_path / "data"))
            with platform.database.write() as transaction:
                outbox.enqueue(transaction, 1, 0, receiver="a@x.test", subject="s", body=platform.keys.encrypt("b"))
            platform.close()
            assert post.arrived.get(timeout=60)
            with open_process_handles(*begun.children().values()) as handles:
                process.send_signal(signal.SIGINT)
                process.wait_for_line('"stopping"')
                process.send_signal(signal.SIGINT)
                process.wait_for_line("stopping at once")
                assert process.wait() == 0
                assert all_ended(handles)


def test_a_port_that_is_taken_is_told_in_a_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        with Process("up", {"LAKEHOLD_DATA": str(tmp_path / "data"), "LAKEHOLD_PORT": port}) as process:
            assert port in process.wait_for_line("Cannot listen on port")
            assert process.wait() == 5


@pytest.mark.parametrize("verb", ["up", "server", "worker"])
def test_a_setting_that_cannot_be_used_is_told_in_a_sentence(verb: str, tmp_path: Path) -> None:
    with Process(verb, {"LAKEHOLD_DATA": str(tmp_path), "LAKEHOLD_PORT": "many"}) as process:
        process.wait_for_line("LAKEHOLD_PORT")
        assert process.wait() == 2
    assert not any("Traceback" in line for line in process.output)


@pytest.mark.parametrize("verb", ["server", "worker"])
def test_each_runs_alone(verb: str, tmp_path: Path) -> None:
    with Process(verb, {"LAKEHOLD_DATA": str(tmp_path), "LAKEHOLD_PORT": "0"}) as process:
        process.wait_for_line("running on" if verb == "server" else "is ready")
        assert process.stop(signal.SIGINT) == 0
