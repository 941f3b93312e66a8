"""A data mart is kept in its storage too, if it says under which name; and never over what others have put there."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyarrow import parquet

from lakehold.access import Grant
from lakehold.directory.errors import HiddenError
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.workspaces.marts.settings import DATA_MART, reads_from
from tests.lake.shop import ED, TENANT
from tests.workspaces.marts.project import SALES, MartsProject

pytestmark = pytest.mark.slow

SOLD = {"by": "sql", "sql": "SELECT id, amount FROM orders"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A database with three orders."""
    found = tmp_path / "shop.sqlite"
    run(found, "CREATE TABLE orders (id INTEGER PRIMARY KEY, amount REAL)")
    run(found, "INSERT INTO orders VALUES (1, 1.5), (2, 2.5), (3, 3.5)")
    return found


def run(file: Path, text: str) -> Sequence[tuple[object, ...]]:
    with sqlite3.connect(file) as opened:
        return opened.execute(text).fetchall()


def database(here: MartsProject, file: Path) -> str:
    return here.storage("db", {"kind": "database", "address": f"jdbc:sqlite:{file}"})


def folder(here: MartsProject, **files: str) -> str:
    storage = here.storage("files", {"kind": "files"})
    for name, text in files.items():
        with here.files(storage).open_partial() as rough:
            rough.write(text.encode())
            here.files(storage).publish(rough, f"{name}.csv", replace=False)
    return storage


def test_its_rows_are_a_table_of_the_database_and_each_refresh_writes_it_anew(here: MartsProject, file: Path) -> None:
    mart = here.create_refreshed_mart({**SOLD, "kept_as": "sold"}, storage=database(here, file))
    assert run(file, "SELECT * FROM sold ORDER BY id") == [(1, 1.5), (2, 2.5), (3, 3.5)]
    run(file, "DELETE FROM orders WHERE id = 1")
    done = here.run(mart, by=ED)
    assert [step.name for step in done.steps] == ["refresh", "keep"]
    assert "2 rows delivered: sold" in here.lines(done)
    assert run(file, "SELECT * FROM sold ORDER BY id") == here.rows(mart) == [(2, 2.5), (3, 3.5)]


def test_its_rows_are_a_file_of_the_folder_that_other_marts_can_draw_from(here: MartsProject) -> None:
    storage = folder(here, may="day,sold\n1,5\n2,7\n")
    here.create_refreshed_mart({"by": "table", "table": "may.csv", "kept_as": "copy"}, storage=storage)
    assert parquet.read_table(here.files(storage).path_on_disk("copy.parquet")).to_pylist() == [
        {"day": 1, "sold": 5},
        {"day": 2, "sold": 7},
    ]
    second = here.create_refreshed_mart({"by": "table", "table": "copy.parquet"}, storage=storage)
    assert here.rows(second) == [(1, 5), (2, 7)]


def test_what_is_there_and_is_no_copy_of_ours_stays(here: MartsProject, file: Path) -> None:
    run(file, "CREATE TABLE people (id INTEGER, amount REAL)")
    run(file, "INSERT INTO people VALUES (7, 7.5)")
    failed = here.run(here.mart({**SOLD, "kept_as": "people"}, storage=database(here, file)), by=ED)
    assert failed.state == "failed"
    assert "There is a table people already, which was not created by Lakehold. Choose another name." in failed.error
    assert run(file, "SELECT * FROM people") == [(7, 7.5)]

    storage = folder(here, may="day,sold\n1,5\n", copy="a\n1\n")
    put = here.files(storage)
    with put.open_partial() as rough:
        rough.write(b"somebody's own")
        put.publish(rough, "copy.parquet", replace=False)
    failed = here.run(here.mart({"by": "table", "table": "may.csv", "kept_as": "copy"}, storage=storage), by=ED)
    assert "There is a file 'copy.parquet' already, which was not created by Lakehold" in failed.error
    assert put.path_on_disk("copy.parquet").read_bytes() == b"somebody's own"


def test_rows_that_a_check_stops_are_not_copied(here: MartsProject, file: Path) -> None:
    check = {"name": "enough", "check": "row count", "least": 3, "stops": True}
    mart = here.create_refreshed_mart({**SOLD, "kept_as": "checked", "checks": [check]}, storage=database(here, file))
    run(file, "DELETE FROM orders WHERE id = 1")
    assert here.run(mart, by=ED).state == "failed"
    assert len(here.rows(mart)) == 2
    assert len(run(file, "SELECT * FROM checked")) == 3


def test_a_name_in_a_storage_is_one_marts(here: MartsProject, file: Path) -> None:
    storage = database(here, file)
    here.create_refreshed_mart({**SOLD, "kept_as": "mine"}, storage=storage)
    second = here.mart({**SOLD, "kept_as": "MINE"}, storage=storage)
    with pytest.raises(ConflictError, match="Another data mart of this storage has the copy 'MINE'"):
        here.run(second, by=ED)
    lake = here.mart({"by": "sql", "sql": SALES, "kept_as": "mine"})
    with pytest.raises(ConflictError, match="has no copy in its storage"):
        here.run(lake, by=ED)


def test_a_storage_that_one_may_no_longer_use_gets_no_copy(here: MartsProject, file: Path) -> None:
    storage = database(here, file)
    mart = here.create_refreshed_mart({**SOLD, "kept_as": "lost"}, storage=storage)
    run(file, "DELETE FROM orders")
    with here.inline_runs.shop.platform.access.write(TENANT) as session:
        session.store.remove(Grant("ed", "owner", storage))
    with pytest.raises(HiddenError):
        here.run(mart, by=ED)
    assert len(run(file, "SELECT * FROM lost")) == 3


@pytest.mark.parametrize(
    ("by", "text", "name", "so"),
    [
        ("table", "orders", "orders", True),
        ("table", "public.orders", "orders", True),
        ("table", "public.orders", "mine.orders", False),
        ("table", "may.csv", "may", False),
        ("table", "may.parquet", "may", True),
        ("pattern", "sales.orders_*", "orders_all", True),
        ("pattern", "sales.orders_*", "mine.orders_all", False),
        ("pattern", "*.parquet", "may", True),
        ("pattern", "*.csv", "may", False),
        ("pattern", "*", "", False),
        ("sql", "orders", "orders", False),
    ],
)
def test_a_copy_is_not_where_its_rows_come_from(by: str, text: str, name: str, so: bool) -> None:
    assert reads_from(by, text, name) is so
    settings = {"by": by, by: text, "kept_as": name}
    if so:
        with pytest.raises(InvalidInputError, match="reads from that"):
            DATA_MART.parse(settings)
    else:
        assert DATA_MART.parse(settings).kept_as == name
