"""`lakehold demo`: the demo company as a real installation, kept from one start to the next."""

from __future__ import annotations

import re
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from lakehold.cli import app, demo, demo_branch
from lakehold.kit.settings import Settings
from tests.processes import Process, all_ended, children, descendants, open_process_handles

_TOKEN = re.compile(r'name="csrf_token" value="([^"]+)"')


def started(folder: Path) -> tuple[Process, str, list[str]]:
    """The process, where it answers, and its links. Nothing of the environment leads it elsewhere."""
    elsewhere = {"LAKEHOLD_DATABASE": "postgresql://nobody@127.0.0.1:1/none", "LAKEHOLD_DATA": str(folder / "no")}
    process = Process(f"demo --folder {folder}", {"LAKEHOLD_PORT": "0", **elsewhere})
    try:
        address = process.wait_for_line("running at").split()[-1]
        process.wait_for_line("Ctrl-C stops it.")
    except BaseException:
        process.__exit__()
        raise
    return process, address, [line.strip() for line in process.output if "/link/" in line]


@contextmanager
def signed_in(link: str) -> Iterator[httpx.Client]:
    """Somebody who opens the link and presses its button."""
    base = link.partition("/link/")[0]
    with httpx.Client(base_url=base, headers={"Accept": "text/html"}, timeout=60) as client:
        found = _TOKEN.search(client.get(link).text)
        assert found
        assert client.post(link, data={"csrf_token": found[1]}).status_code == 303
        yield client


@pytest.mark.slow
def test_it_prints_links_for_five_people_and_keeps_what_they_did(tmp_path: Path) -> None:
    folder = tmp_path / "company"
    process, address, links = started(folder)
    with process:
        assert len(links) == len(set(links)) == 5
        assert all(link.startswith(f"{address}/link/") for link in links)
        with signed_in(links[1]) as tara:
            page = tara.get("/")
            assert "Welcome back, Tara." in page.text
            assert "Sales marts" in page.text
            token = _TOKEN.search(tara.get("/profile").text)
            assert token
            assert tara.post("/profile", data={"csrf_token": token[1], "name": "Tara herself"}).status_code == 303
        found = children(process.process.pid)
        assert found.keys() == {"server", "worker", "query-worker", "gateway"}
        # With the database of the branch, and its own processes.
        all_of_them = descendants(process.process.pid)
        assert len(all_of_them) > len(found) + 2
        with open_process_handles(*all_of_them) as handles:
            assert process.stop(signal.SIGINT) == 0
            assert all_ended(handles)
    assert not (folder / "no").exists()

    again, _, fresh = started(folder)
    with again:
        assert not any("Making" in line for line in again.output)
        assert set(fresh).isdisjoint(links)
        with signed_in(fresh[1]) as tara:
            assert "Tara herself" in tara.get("/").text
        with open_process_handles(*descendants(again.process.pid)) as handles:
            again.send_signal(signal.SIGKILL)
            assert all_ended(handles)


def test_without_a_postgresql_the_branch_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, said = tmp_path / "company", list[str]()
    demo.create(folder)
    monkeypatch.setattr(demo_branch, "find_programs", lambda: None)
    with demo_branch.run_branch(demo.demo_settings(folder, gateway_port=1), said.append) as gateways:
        assert not gateways
    assert "is left out. There is no PostgreSQL" in said[0]
    assert "lakehold[demo]" in said[0]


def test_what_is_half_made_is_made_anew(tmp_path: Path) -> None:
    folder = tmp_path / "company"
    part = tmp_path / "company.part"
    part.mkdir()
    (part / "lakehold.sqlite").write_bytes(b"half of it")
    assert not demo.exists(folder)
    demo.create(folder)
    assert demo.exists(folder)
    assert not part.exists()


def test_nothing_else_is_ever_touched(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "letters.txt").write_text("dear all")
    real = tmp_path / "real"
    real.mkdir()
    sqlite3.connect(real / "lakehold.sqlite").close()
    for folder in (kept, real):
        result = CliRunner().invoke(app, ["demo", "--folder", str(folder)])
        assert result.exit_code == 5
        assert "is not an empty folder" in result.output
    assert [file.name for file in kept.iterdir()] == ["letters.txt"]


def test_processes_are_told_all_that_was_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, smtp="smtp://a:b@127.0.0.1:25", link_minutes=7)  # type: ignore[arg-type]
    for name, value in settings.environment().items():
        monkeypatch.setenv(name, value)
    assert Settings() == settings


def test_of_the_databases_of_this_machine_only_its_own_is_open(tmp_path: Path) -> None:
    read = demo.demo_settings(tmp_path / "company")
    assert read.databases == f"jdbc:sqlite:{tmp_path}/company/customers.sqlite"
