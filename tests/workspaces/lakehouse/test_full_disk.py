"""A disk without room: the run says so, what was there stays, and after room was made the same run goes on.

A small disk is mounted where files are to go; where that is not allowed, these tests are skipped.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lakehold.catalog import resources
from lakehold.runs.service import Run
from tests.lake.shop import ED, TENANT
from tests.workspaces.lakehouse.inline_runs import RUNS, InlineRuns

SMALL = "64k"
ROWS = 20_000


@contextmanager
def full(folder: Path) -> Iterator[None]:
    """Let a folder lie on a disk that has next to no room."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", str(folder)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:  # noqa: S603 - our own words
        pytest.skip("no disk can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)  # noqa: S603, S607 - as above


@pytest.fixture(scope="module")
def much(here: InlineRuns) -> str:
    """A file with more than fits, in whatever way it is packed."""
    some = random.Random(7)  # noqa: S311 - the same words each time
    here.put_file("much.csv", "id,word\n" + "".join(f"{n},{some.randbytes(20).hex()}\n" for n in range(ROWS)))
    return "much.csv"


def table(here: InlineRuns, name: str) -> Path:
    """A table that has nothing yet: its folder."""
    with here.shop.platform.access.write(TENANT) as session:
        session.store.create("lakehouse.table", name, uid=name, edges={"layer": "raw"})
    place = here.shop.place(name)
    return Path(here.shop.platform.settings.warehouse_url) / place.namespace / place.table


def source(here: InlineRuns, name: str, stream: str, into: str) -> str:
    here.source(name, {"connector": "files", "volume": "raw_files"})
    with here.shop.platform.write(ED) as ctx:
        edges, settings = {"source": name, "writes": [into]}, {"stream": stream}
        resources.create(ctx, "lakehouse.stream", "rows", uid=f"{name}_rows", edges=edges, settings=settings)
    return name


def reports_full_disk(run: Run) -> bool:
    """Whether it says that, and nothing of the machine."""
    return run.state == "failed" and "disk is full" in run.error and "/" not in run.error


@pytest.mark.parametrize("part", ["data", "metadata"])
def test_a_table_that_finds_no_room_is_as_it_was_and_filled_later(here: InlineRuns, much: str, part: str) -> None:
    name = f"full_{part}"
    folder = table(here, f"{name}_table")
    uid = source(here, name, much, f"{name}_table")
    with full(folder / part):
        if part == "metadata":
            (folder / part / "stuffing").write_bytes(b"x" * 63_000)
        run = here.run(uid)
        assert reports_full_disk(run), run.error
    with here.shop.platform.write(ED) as ctx:
        RUNS.resume(ctx, run.id)
    done = here.execute(run.id)
    assert (done.state, done.error, done.steps[0].rows) == ("succeeded", "", ROWS)


def test_a_query_that_finds_no_room_says_so(here: InlineRuns) -> None:
    folder = table(here, "full_query")
    sql = f"SELECT id, sha2(cast(id AS string), 256) AS word FROM range({ROWS})"
    with here.shop.platform.write(ED) as ctx:
        edges = {"lakehouse": "shop", "reads": ["orders"], "writes": ["full_query"]}
        settings = {"sql": f"{sql} CROSS JOIN (SELECT 1 FROM raw.orders LIMIT 1)"}
        resources.create(ctx, "lakehouse.query", "full", uid="full", edges=edges, settings=settings)
    with full(folder / "data"):
        run = here.run("full")
        assert reports_full_disk(run), run.error
    assert here.shop.tables.read(here.shop.place("full_query")).count() == 0


def test_a_file_that_finds_no_room_leaves_the_one_of_before(here: InlineRuns, much: str) -> None:
    table(here, "full_out")
    assert here.run(source(here, "full_in", much, "full_out")).state == "succeeded"
    with here.shop.platform.access.write(TENANT) as session:
        session.store.create("lakehouse.volume", "small", uid="small", edges={"layer": "raw"})
    place = here.shop.place("small")
    folder = here.shop.platform.settings.volumes_folder / place.namespace / place.table
    settings = {"to": "files", "name": "out", "kind": "csv"}
    uid = here.destination("full_file", settings, ("full_out",), volume="small")
    with full(folder):
        (folder / "out.csv").write_text("old")
        run = here.run(uid)
        assert reports_full_disk(run), run.error
        assert (folder / "out.csv").read_text() == "old"
        assert [file for file in (folder / ".lakehold").rglob("*") if file.is_file()] == []
