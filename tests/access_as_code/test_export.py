"""Files in a folder: readable, stable, with nothing lost that people wrote into them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakehold.access.engine import AccessEngine
from lakehold.access.facts.records import Attribute, Edge, Grant
from lakehold.access_as_code import parse_files, read_files, write_files
from lakehold.demo import company
from lakehold.kit.clock import DAY
from lakehold.kit.errors import InvalidInputError
from tests.access_as_code.direct_writer import export_as_owner

CORNER = company.TENANT
TESTS = "tests:  # of the lake\n  - {who: ana, can: read, on: orders}\n"


def test_people(files: dict[str, str]) -> None:
    assert files["people.yaml"].splitlines()[:4] == [
        "# yaml-language-server: $schema=code.schema.json",
        "members:",
        '  adam: {name: "Adam, Admin"}',
        '  ana: {name: "Ana, Analyst"}',
    ]
    assert "  analysts: {name: Analysts, members: [ana, bella, boris]}\n" in files["people.yaml"]


def test_a_small_change_is_a_small_diff(access: AccessEngine, files: dict[str, str]) -> None:
    with access.write(CORNER) as session:
        session.store.add(Grant("nils", "viewer", "clean"), until=session.at + DAY)
        session.store.add(Attribute("daily_sales", "shared_for_reporting", "false"))
        session.store.add(Edge("member_of", "nils", "stewards"))
        session.store.rename("orders", "All orders")
    after = export_as_owner(access, CORNER)
    old = {(name, line) for name, text in files.items() for line in text.splitlines()}
    new = {(name, line) for name, text in after.items() for line in text.splitlines()}
    assert {line.strip() for _, line in new - old} == {
        "viewer: [ana, {who: nils, until: 1970-01-13T13:46:40Z}]",
        "stewards: {name: Data stewards, members: [carla, mona, nils]}",
        "orders: {name: All orders}",
    }
    assert sum(text.count("\n") for text in after.values()) == sum(text.count("\n") for text in files.values())


@pytest.mark.parametrize(
    ("made", "written"),
    [
        ("c19198a2e9327921", "c19198a2e9327921"),
        pytest.param("7191983249327921", '"7191983249327921"', id="a whole number to YAML"),
        pytest.param("71919832e9327921", '"71919832e9327921"', id="a number to YAML"),
    ],
)
def test_names_beside_ids_that_say_nothing(access: AccessEngine, made: str, written: str) -> None:
    with access.write(CORNER) as session:
        session.store.create("tenant.member", "Zoe: new, #1", uid=made, edges={"tenant": CORNER})
        session.store.add(Grant(made, "viewer", "clean"))
        session.store.add(Grant(made, "manager", "private"), until=session.at + DAY)
    found = export_as_owner(access, CORNER)
    lake = found["workspaces/store-lake.yaml"]
    assert f"          viewer:\n            - {written}  # Zoe: new, #1\n            - ana\n" in lake or (
        f"          viewer:\n            - ana\n            - {written}  # Zoe: new, #1\n" in lake
    )
    assert f"            who: {written}  # Zoe: new, #1\n" in lake
    assert parse_files(found).state.entries[made].name == "Zoe: new, #1"


def test_workspaces_whose_names_make_one_file_name(access: AccessEngine) -> None:
    with access.write(CORNER) as session:
        for uid, name in (("A", "Öl / Gas"), ("a", "Öl: Gas"), ("ä", "Öl, Gas")):
            session.store.create("spaces.space", name, uid=uid, edges={"tenant": CORNER})
        session.store.create("spaces.space", "日本", uid="jp", edges={"tenant": CORNER})
    names = {name for name in export_as_owner(access, CORNER) if name.startswith("workspaces/")}
    assert {"workspaces/ol-gas-a.yaml", "workspaces/ol-gas-a-2.yaml", "workspaces/workspace.yaml"} <= names
    assert len({name.casefold() for name in names}) == len(names) == 12


def test_written_and_read(files: dict[str, str], tmp_path: Path) -> None:
    assert {done.done for done in write_files(tmp_path, files)} == {"written"}
    assert read_files(tmp_path).digest == parse_files(files).digest
    assert {done.done for done in write_files(tmp_path, files)} == {"kept"}


def test_tests_stay(files: dict[str, str], tmp_path: Path) -> None:
    write_files(tmp_path, files)
    lake, gone, own = (tmp_path / name for name in ("workspaces/store-lake.yaml", "workspaces/gone.yaml", "own.yaml"))
    lake.write_text(lake.read_text(encoding="utf-8").replace("Store lake", "Old name") + "\n" + TESTS, encoding="utf-8")
    gone.write_text(TESTS + "workspaces:\n  x: {kind: spaces.space}\n", encoding="utf-8")
    own.write_text("# mine\n" + TESTS, encoding="utf-8")
    (tmp_path / "workspaces" / "old.yaml").write_text("workspaces: {y: {kind: spaces.space}}\n", encoding="utf-8")
    done = {written.file: written.done for written in write_files(tmp_path, files)}
    assert done["workspaces/old.yaml"] == "removed"
    assert done["workspaces/gone.yaml"] == done["workspaces/store-lake.yaml"] == "written"
    assert done["own.yaml"] == "kept"
    assert lake.read_text(encoding="utf-8") == files["workspaces/store-lake.yaml"] + "\n" + TESTS
    assert gone.read_text(encoding="utf-8") == TESTS
    assert len(read_files(tmp_path).tests) == 3
    assert {written.done for written in write_files(tmp_path, files)} == {"kept"}


def test_what_cannot_be_read_is_not_written_over(files: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "people.yaml").write_text("members: {", encoding="utf-8")
    with pytest.raises(InvalidInputError, match="not YAML"):
        write_files(tmp_path, files)
    assert (tmp_path / "people.yaml").read_text(encoding="utf-8") == "members: {"


@pytest.mark.parametrize("name", ["../out.yaml", "/out.yaml", "x/../../out.yaml", "run.sh"])
def test_no_file_outside_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInputError, match="not a valid file name"):
        write_files(tmp_path / "inner", {name: ""})
    assert not (tmp_path / "out.yaml").exists()


def test_nothing_secret(files: dict[str, str]) -> None:
    assert not [name for name, text in files.items() if "password" in text or "secret" in text]
