"""review: worked out by a worker of the server, or here if there is none; the same rows in every format."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from lakehold.access import Attribute
from lakehold.demo import company
from lakehold.directory import tokens
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from tests.cli.command_runner import serve_platform
from tests.processes import Process
from tests.runs.workers import start_worker

OLGA = Caller(company.TENANT, "olga")
Row = tuple[str, ...]


@pytest.fixture
def corner(tmp_path: Path) -> Iterator[Platform]:
    platform = Platform(Settings(data=tmp_path / "data"))
    platform.database.migrate()
    company.load(platform.access)
    yield platform
    platform.close()


def decided(platform: Platform, kind: str) -> set[Row]:
    """Everything that check allows, about what Olga may know of."""
    with platform.read(OLGA) as ctx:
        things = [ctx.view.uid(number) for number in ctx.view.by_kind.get(kind) or ()]
        members = [ctx.view.uid(number) for number in ctx.view.members]
        return {
            (member, thing, kind, action)
            for thing in things
            if ctx.session.can_see("olga", thing)
            for member in members
            for action in ctx.session.actions(member, thing)
        }


def rows(file: Path) -> set[Row]:
    if file.suffix == ".csv":
        with file.open(newline="") as text:
            return {tuple(row.values()) for row in csv.DictReader(text)}
    table = pyarrow.parquet.read_table(file) if file.suffix == ".parquet" else pa.ipc.open_file(file).read_all()
    return {tuple(row.values()) for row in table.to_pylist()}


@pytest.mark.slow
@pytest.mark.rare
def test_a_worker_or_whoever_asks_works_it_out(corner: Platform, tmp_path: Path) -> None:
    with corner.access.write("corner") as session:
        session.store.add(Attribute("serving", "personal", "true"))
    # There is an app in a personal space, and Olga may not know of it.
    assert not decided(corner, "spaces.app")
    expected = decided(corner, "lakehouse.layer")
    assert expected
    kinds = "--kind spaces.app --kind lakehouse.layer"
    here = {"LAKEHOLD_DATA": str(corner.settings.data), "LAKEHOLD_SPARK": "local[1]"}
    with Process(f"review {tmp_path / 'here.csv'} {kinds} --local --as olga", here) as process:
        assert process.wait() == 0, process.output
    assert rows(tmp_path / "here.csv") == expected

    with corner.write(OLGA) as ctx:
        token = tokens.create(ctx, "test").secret
    with serve_platform(corner) as address, start_worker(corner, LAKEHOLD_SPARK="local[1]") as running:
        there = {"LAKEHOLD_URL": address, "LAKEHOLD_TOKEN": token}
        for name in ("there.parquet", "there.arrow"):
            with Process(f"review {tmp_path / name} {kinds} --json", there) as process:
                assert process.wait() == 0, process.output
            assert rows(tmp_path / name) == expected
        with Process(f"review {tmp_path / 'no.csv'} --inside nothing", there) as process:
            assert process.wait() == 3
        assert running.stop() == 0
    assert not (tmp_path / "no.csv").exists()


def test_a_file_of_another_kind_is_refused() -> None:
    with Process("review table.docx --local", {}) as process:
        assert process.wait() == 2
