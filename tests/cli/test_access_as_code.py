"""export, plan, apply, test: on both ways, and without any."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

from typer.testing import CliRunner

from lakehold.cli import app
from tests.cli.command_runner import CommandRunner


def edited(folder: Path) -> None:
    """Bob becomes Viewer of orders, which is told of in a description, and Zoe comes."""
    lake = folder / "workspaces" / "lake.yaml"
    lake.write_text(
        lake.read_text().replace("orders: {name: Orders}", "orders: {name: Orders, description: Sold, viewer: bob}")
    )
    (folder / "new.yaml").write_text("members:\n  zoe: {name: Zoe, email: zoe@example.org}\n")


def test_there_and_back_again(way: CommandRunner, tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    assert "written: people.yaml" in way("export", str(folder)).out
    assert way("export", str(folder)).out.endswith(" 0 changed.\n")
    assert way("plan", str(folder)).code == 0
    edited(folder)
    planned = way("plan", str(folder), "--out", str(tmp_path / "plan.json"))
    assert planned.code == 1
    assert "viewer" in planned.out
    assert way("check", "bob", "read", "orders").code == 1
    assert way("apply", str(folder), typed="n\n").code == 1
    assert way("check", "bob", "read", "orders").code == 1
    assert way("apply", str(folder), "--plan", str(tmp_path / "plan.json"), "--yes").code == 0
    assert way("check", "bob", "read", "orders").code == 0
    assert way.json("member", "show", "zoe")["email"] == "zoe@example.org"
    assert way.json("resource", "show", "orders")["description"] == "Sold"
    assert way("plan", str(folder)).out == "No changes: the tenant matches the files.\n"
    assert "removed: new.yaml" in way("export", str(folder)).out
    assert way("plan", str(folder)).code == 0


def test_a_plan_is_refused_when_the_world_has_moved(way: CommandRunner, tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    way("export", str(folder))
    edited(folder)
    way("plan", str(folder), "--out", str(tmp_path / "plan.json"))
    way("grant", "bob", "editor", "bronze")
    refused = way("apply", str(folder), "--plan", str(tmp_path / "plan.json"), "--yes")
    assert refused.code == 5
    assert "changed since" in refused.err
    assert way("check", "zoe", "see", "acme").code == 3
    (tmp_path / "plan.json").write_text("{")
    assert way("apply", str(folder), "--plan", str(tmp_path / "plan.json"), "--yes").code == 2


def test_only_an_owner_gets_everything_as_files(way: CommandRunner, tmp_path: Path) -> None:
    way("member", "roles", "bob", "admin")
    assert way("export", str(tmp_path / "acme"), by="bob").code == 4
    assert not (tmp_path / "acme").exists()


def test_files_that_cannot_be_read_say_where(way: CommandRunner, tmp_path: Path) -> None:
    (tmp_path / "acme.yaml").write_text("tenant: {name: Acme}\nmembres: {}\n")
    wrong = way("plan", str(tmp_path / "acme.yaml"))
    assert wrong.code == 2
    assert "acme.yaml:2" in wrong.err
    assert way("plan", str(tmp_path / "nothing")).code == 2


TESTS = """
tenant: {name: Acme, owner: ada}
members: {ada: {name: Ada}, bob: {name: Bob}}
tests:
  - {who: ada, can: manage_members, on: /}
  - {who: bob, cannot: manage_members, on: /}
"""


def alone(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(words))
    return done.exit_code, done.stdout


def test_tests_need_no_server(tmp_path: Path) -> None:
    file = tmp_path / "acme.yaml"
    file.write_text(TESTS)
    code, out = alone("test", str(file), "--junit", str(tmp_path / "report.xml"))
    assert code == 0, out
    assert "2 passed" in out
    suites = ET.parse(tmp_path / "report.xml").getroot()  # noqa: S314 - our own
    assert [suite.get("tests") for suite in suites] == ["2"]
    file.write_text(file.read_text().replace("cannot", "can"))
    code, out = alone("test", str(file), "--json")
    assert code == 1
    assert json.loads(out)
    file.write_text("members: {}\n")
    assert alone("test", str(file))[0] == 5


def test_tests_are_asked_of_the_tenant(way: CommandRunner, tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    way("export", str(folder))
    (folder / "tests.yaml").write_text("tests:\n  - {who: bob, can: read, on: orders}\n")
    assert way("test", str(folder)).code == 1
    assert way("test", str(folder), "--live").code == 1
    way("grant", "bob", "viewer", "orders")
    assert way("test", str(folder)).code == 1
    assert way("test", str(folder), "--live").code == 0
    assert way("test", str(folder), "--live", by="bob").code == 4
