"""Data marts are refreshed from each kind of storage, and hold what their readers see."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from lakehold.access import Grant
from lakehold.catalog import resource_edit, resource_metadata, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.kit.errors import InvalidInputError
from tests.lake.shop import ED, RITA, SAM, TENANT
from tests.workspaces.marts.project import SALES, MartsProject

pytestmark = pytest.mark.slow


def test_a_mart_of_the_lake_is_refreshed_and_read_by_those_who_may_use_it(here: MartsProject) -> None:
    mart = here.create_refreshed_mart({"by": "sql", "sql": SALES})
    assert len(here.rows(mart)) == 100
    assert len(here.rows(mart, by=RITA)) == 100
    with pytest.raises(Exception, match=r"no table|nothing called|cannot be found"):
        here.rows(mart, by=SAM)


def test_what_is_hidden_is_not_kept_and_types_are_as_they_are_said(here: MartsProject) -> None:
    columns = [{"name": "amount", "hidden": True}, {"name": "customer", "type": "string", "alias": "Customer"}]
    mart = here.create_refreshed_mart({"by": "sql", "sql": SALES, "columns": columns})
    with pytest.raises(Exception, match="amount"):
        here.rows(mart, "amount")
    assert here.rows(mart, "DISTINCT typeof(customer)") == [("string",)]


def test_a_table_and_a_pattern_over_tables(here: MartsProject) -> None:
    table = here.create_refreshed_mart({"by": "table", "table": "raw.customers"})
    assert len(here.rows(table)) == 5
    both = here.create_refreshed_mart({"by": "pattern", "pattern": "raw.*o*ers"})
    assert here.rows(both, "count(*), count(amount)") == [(105, 100)]


def test_a_database_is_asked_in_its_own_sql(here: MartsProject, tmp_path: Path) -> None:
    file = tmp_path / "shop.sqlite"
    with sqlite3.connect(file) as made:
        made.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, amount REAL)")
        made.executemany("INSERT INTO orders VALUES (?, ?)", [(n, n * 1.5) for n in range(10)])
    storage = here.storage("db", {"kind": "database", "address": f"jdbc:sqlite:{file}"})
    mart = here.create_refreshed_mart(
        {"by": "sql", "sql": "SELECT id, amount FROM orders WHERE id > 6;"}, storage=storage
    )
    assert here.rows(mart) == [(7, 10.5), (8, 12.0), (9, 13.5)]
    table = here.create_refreshed_mart(
        {"by": "table", "table": "orders", "mode": "merge", "keys": ["id"]}, storage=storage
    )
    assert len(here.rows(table)) == 10
    bad = here.mart({"by": "sql", "sql": "SELECT 1) x; DROP TABLE orders; --"}, storage=storage)
    assert "semicolon" in here.run(bad, by=ED).error
    with sqlite3.connect(file) as still:
        assert still.execute("SELECT count(*) FROM orders").fetchone() == (10,)


def test_only_what_is_new_is_read_by_a_cursor(here: MartsProject, tmp_path: Path) -> None:
    file = tmp_path / "shop.sqlite"
    with sqlite3.connect(file) as made:
        made.execute("CREATE TABLE events (n INTEGER PRIMARY KEY, word TEXT)")
        made.execute("INSERT INTO events VALUES (1, 'a'), (2, 'b')")
    storage = here.storage("db", {"kind": "database", "address": f"jdbc:sqlite:{file}"})
    mart = here.create_refreshed_mart(
        {"by": "table", "table": "events", "mode": "incremental", "cursor": "n"}, storage=storage
    )
    with sqlite3.connect(file) as more:
        more.execute("UPDATE events SET word = 'changed' WHERE n = 1")
        more.execute("INSERT INTO events VALUES (3, 'c')")
    assert here.run(mart, by=ED).steps[0].rows == 1
    assert here.rows(mart) == [(1, "a"), (2, "b"), (3, "c")]
    assert here.inline_runs.run(mart, by=ED, reload=True).state == "succeeded"
    assert here.rows(mart) == [(1, "changed"), (2, "b"), (3, "c")]


def test_a_folder_of_files_is_a_storage(here: MartsProject) -> None:
    storage = here.storage("files", {"kind": "files"})
    volume = here.files(storage)
    for name, text in {"may.csv": "day,sold\n1,5\n", "june.csv": "day,sold\n1,7\n2,8\n"}.items():
        with volume.open_partial() as rough:
            rough.write(text.encode())
            volume.publish(rough, name, replace=False)
    assert here.rows(
        here.create_refreshed_mart({"by": "pattern", "pattern": "*.csv"}, storage=storage), "sum(sold)"
    ) == [(20,)]
    refused = here.mart({"by": "sql", "sql": "SELECT 1"}, storage=storage)
    assert "cannot be queried in SQL" in here.run(refused, by=ED).error


def test_who_may_not_edit_it_may_not_refresh_it(here: MartsProject) -> None:
    mart = here.create_refreshed_mart({"by": "sql", "sql": SALES})
    with pytest.raises(DeniedError, match=r"[Ee]dit"):
        here.run(mart, by=RITA)


def test_the_lake_is_read_with_ones_own_levels(here: MartsProject) -> None:
    mart = here.mart({"by": "sql", "sql": "SELECT * FROM secret.hidden"})
    run = here.run(mart, by=ED)
    assert run.state == "failed"
    assert "secret" in run.error
    assert "salary" not in here.lines(run)


def test_a_storage_that_one_may_no_longer_use_refreshes_nothing(here: MartsProject) -> None:
    storage = here.storage("lost", {"kind": "lake", "lakehouse": "shop"})
    mart = here.create_refreshed_mart({"by": "sql", "sql": SALES}, storage=storage)
    with here.inline_runs.shop.platform.access.write(TENANT) as session:
        session.store.remove(Grant("ed", "owner", storage))
    with pytest.raises(HiddenError):
        here.run(mart, by=ED)


@pytest.mark.parametrize(
    ("settings", "said", "field"),
    [
        ({"by": "sql"}, "no sql", "sql"),
        ({"by": "magic", "sql": "SELECT 1"}, "cannot be 'magic'", "by"),
        ({"by": "sql", "sql": "SELECT 1", "mode": "merge"}, "primary key", "keys"),
        ({"by": "sql", "sql": "SELECT 1", "mode": "incremental"}, "cursor", "cursor"),
        ({"by": "sql", "sql": "SELECT 1", "columns": [{"name": "a"}, {"name": "a"}]}, "twice", "columns"),
    ],
)
def test_a_definition_that_cannot_be_used_is_refused_by_its_field(
    here: MartsProject, settings: dict[str, object], said: str, field: str
) -> None:
    with pytest.raises(InvalidInputError, match=said) as caught:
        here.mart(settings)
    assert caught.value.field == field
    # One that was stored before it was validated is readable, and refused when it is run and when it is saved again.
    mart, platform = here.mart({}), here.inline_runs.shop.platform
    with platform.write(ED) as ctx:
        resource_metadata.save(ctx, mart, settings=settings)
        assert resources.get(ctx, mart).settings == settings
        listed = resources.find(ctx, among=["marts.data_mart"], search=mart).items
        assert [each.settings_problems[0].field for each in listed] == [field]
    with pytest.raises(InvalidInputError, match=said):
        here.run(mart, by=ED)
    with pytest.raises(InvalidInputError, match=said), platform.write(ED) as ctx:
        resource_edit.apply_edit(ctx, mart, ResourceEdit(settings={**settings, "keys": []}))


def test_its_lineage_is_what_its_rows_were_made_from(here: MartsProject) -> None:
    platform = here.inline_runs.shop.platform

    def reads() -> object:
        with platform.read(ED) as ctx:
            return resource_metadata.load(ctx, mart).settings.get("reads")

    mart = here.create_refreshed_mart({"by": "sql", "sql": "SELECT id FROM raw.customers"})
    assert reads() == ["customers"]
    with platform.write(ED) as ctx:
        changed = {"by": "sql", "sql": "SELECT id FROM raw.orders"}
        version = resource_edit.apply_edit(ctx, mart, ResourceEdit(settings=changed))
    assert reads() == ["customers"], "its rows are still those"
    assert here.run(mart, by=ED).state == "succeeded"
    assert reads() == ["orders"]
    with platform.read(ED) as ctx:
        assert resource_metadata.load(ctx, mart).version == version, "nobody has edited it"
