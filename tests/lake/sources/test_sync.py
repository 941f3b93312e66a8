"""A stream into a table, once for each mark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakehold.connectors.api.connector import ApiAuthSettings, ApiEndpoint, ApiLimits, ApiSettings, PageNumberPaging
from lakehold.connectors.api.source import RestSource
from lakehold.connectors.files.settings import FileFormat, FileKind
from lakehold.connectors.files.source import FileSource
from lakehold.connectors.settings import SyncMode
from lakehold.connectors.sources.field_types import StreamField
from lakehold.connectors.sources.source import ReadSpan
from lakehold.connectors.sources.sync import SyncOptions, sync_stream
from lakehold.kit.errors import InvalidInputError, UnavailableError
from lakehold.kit.settings import Settings
from lakehold.lake.errors import DataError
from lakehold.lake.iceberg_catalog import IcebergCatalog, TableIdentifier
from lakehold.lake.spark.tables import Tables
from tests.lake.sources.fake_api import ApiRequest, ApiResponse, FakeApi
from tests.lake.sources.files import sorted_rows, write_file

_numbers = count(1_000)
SHAPE = FileFormat(FileKind.SEPARATED, (StreamField("id", "bigint"), StreamField("name"), StreamField("at", "date")))


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    """One lake for all: each table has a number of its own."""
    data = tmp_path_factory.mktemp("data")
    lake = IcebergCatalog(Settings(data=data, database=f"sqlite:///{data / 'x.sqlite'}"))
    yield Tables(spark, lake)
    lake.close()


@pytest.fixture
def place() -> TableIdentifier:
    return TableIdentifier(1, next(_numbers))


@dataclass(frozen=True, slots=True)
class FixedBadRowTable:
    """A table for bad rows whose identifier is known."""

    place: TableIdentifier

    def find(self) -> TableIdentifier:
        """Return the identifier."""
        return self.place

    def make(self) -> TableIdentifier:
        """Return the identifier."""
        return self.place


def source(tmp_path: Path, *lines: str) -> FileSource:
    file = write_file(tmp_path, "a.csv", "\n".join(("id,name,at", *lines)) + "\n")
    return FileSource((file,), formats={"a.csv": SHAPE})


def there(tables: Tables, place: TableIdentifier) -> list[tuple[object, ...]]:
    return [row[:2] for row in sorted_rows(tables.read(place))]


def test_each_mode_leaves_what_it_should(tables: Tables, tmp_path: Path) -> None:
    old, new = ("1,a,2024-01-01", "2,b,2024-01-02"), ("2,bb,2024-01-02", "3,c,2024-01-03")
    expected: dict[SyncMode, list[tuple[object, ...]]] = {
        SyncMode.FULL: [(2, "bb"), (3, "c")],
        SyncMode.APPEND: [(1, "a"), (2, "b"), (2, "bb"), (3, "c")],
        SyncMode.MERGE: [(1, "a"), (2, "bb"), (3, "c")],
        SyncMode.MIRROR: [(2, "bb"), (3, "c")],
        SyncMode.INCREMENTAL: [(1, "a"), (2, "bb"), (3, "c")],
    }
    for mode, rows in expected.items():
        place = TableIdentifier(1, next(_numbers))
        keys = () if mode in {SyncMode.FULL, SyncMode.APPEND} else ("id",)
        how = SyncOptions(mode, keys, cursor="at")
        first = sync_stream(tables, place, source(tmp_path, *old), "a.csv", how, "one")
        assert (first.written.added, first.bad, first.cursor) == (2, 0, "2024-01-02")
        how = replace(how, since=first.cursor)
        second = sync_stream(tables, place, source(tmp_path, *new), "a.csv", how, "two")
        assert (second.written.again, second.cursor) == (False, "2024-01-03")
        # Begun again, with a source that has gone on meanwhile.
        again = sync_stream(tables, place, source(tmp_path, *new, "4,d,2024-01-04"), "a.csv", how, "two")
        assert (again.written.again, again.cursor) == (True, "2024-01-03")
        assert there(tables, place) == rows


def test_without_keys_only_what_is_new_is_added(tables: Tables, place: TableIdentifier, tmp_path: Path) -> None:
    how = SyncOptions(SyncMode.INCREMENTAL, cursor="at")
    first = sync_stream(tables, place, source(tmp_path, "1,a,2024-01-01"), "a.csv", how, "one")
    how = replace(how, since=first.cursor)
    assert sync_stream(tables, place, source(tmp_path, "1,a,2024-01-01"), "a.csv", how, "two").cursor == "2024-01-01"
    assert there(tables, place) == [(1, "a")]
    sync_stream(tables, place, source(tmp_path, "1,a,2024-01-01", "2,b,2024-01-05"), "a.csv", how, "three")
    assert there(tables, place) == [(1, "a"), (2, "b")]


def test_bad_rows_are_kept_or_refused_but_never_lost(tables: Tables, place: TableIdentifier, tmp_path: Path) -> None:
    bad = TableIdentifier(1, next(_numbers))
    rows = ("1,a,2024-01-01", "x,b,2024-01-02", "3,c", "4,d,2024-01-04")
    refused = SyncOptions(SyncMode.FULL)
    with pytest.raises(DataError, match=r"2 rows cannot be read, and 0 are allowed\. a\.csv: (id is 'x'|It has 2)"):
        sync_stream(tables, place, source(tmp_path, *rows), "a.csv", refused, "one")
    assert not tables.exists(place)
    kept = SyncOptions(SyncMode.FULL, bad=FixedBadRowTable(bad))
    for _ in range(2):
        done = sync_stream(tables, place, source(tmp_path, *rows), "a.csv", kept, "two")
        assert (done.written.added, done.bad) == (2, 2)
    assert sorted_rows(tables.read(bad)) == [
        ("id is 'x', which is no bigint.", "x,b,2024-01-02", "a.csv", "two"),
        ("It has 2 values for 3 fields.", "3,c", "a.csv", "two"),
    ]
    counted = SyncOptions(SyncMode.APPEND, max_bad=2)
    assert sync_stream(tables, place, source(tmp_path, *rows), "a.csv", counted, "three").bad == 2
    # As if it had ended between the good rows and the bad ones.
    again = sync_stream(
        tables,
        place,
        source(tmp_path, *rows),
        "a.csv",
        SyncOptions(SyncMode.APPEND, bad=FixedBadRowTable(bad)),
        "three",
    )
    assert (again.written.again, again.bad, tables.read(bad).count()) == (True, 2, 4)
    mirror = SyncOptions(SyncMode.MIRROR, ("id",), bad=FixedBadRowTable(bad))
    with pytest.raises(DataError, match="would count as deleted"):
        sync_stream(tables, place, source(tmp_path, *rows), "a.csv", mirror, "four")
    assert sync_stream(tables, place, source(tmp_path, "9,z,"), "a.csv", kept, "five").bad == 0
    assert tables.read(bad).count() == 4


def test_an_empty_source_empties_no_table_unawares(tables: Tables, place: TableIdentifier, tmp_path: Path) -> None:
    how = SyncOptions(SyncMode.FULL)
    assert sync_stream(tables, place, source(tmp_path), "a.csv", how, "none").written.total == 0
    sync_stream(tables, place, source(tmp_path, "1,a,2024-01-01"), "a.csv", how, "one")
    with pytest.raises(DataError, match="no rows, and the table has 1"):
        sync_stream(tables, place, source(tmp_path), "a.csv", how, "two")
    assert there(tables, place) == [(1, "a")]
    sync_stream(tables, place, source(tmp_path), "a.csv", replace(how, allow_empty=True), "three")
    assert there(tables, place) == []


def test_what_cannot_be_synced_is_refused(tables: Tables, place: TableIdentifier, tmp_path: Path) -> None:
    rows = source(tmp_path, "1,a,2024-01-01", "1,b,2024-01-01")
    for how, said in (
        (SyncOptions(SyncMode.INCREMENTAL), "needs a cursor"),
        (SyncOptions(SyncMode.MIRROR), "needs a key"),
    ):
        with pytest.raises(InvalidInputError, match=said):
            sync_stream(tables, place, rows, "a.csv", how, "one")
    for how, said in (
        (SyncOptions(SyncMode.MERGE, ("id",)), "more than once, such as 1"),
        (SyncOptions(SyncMode.MERGE, ("nr",)), "'nr' is not a field"),
        (SyncOptions(SyncMode.APPEND, cursor="when"), "'when' is not a field"),
    ):
        with pytest.raises(DataError, match=said):
            sync_stream(tables, place, rows, "a.csv", how, "two")


def test_an_api_is_asked_once_and_then_for_what_is_new(
    tables: Tables, place: TableIdentifier, api: FakeApi, capfd: pytest.CaptureFixture[str]
) -> None:
    orders = [{"id": n, "at": f"2024-01-0{n}", "who": {"n": n}} for n in range(1, 6)]

    def answer(asked: ApiRequest) -> ApiResponse:
        found = [each for each in orders if str(each["at"]) >= asked.params.get("after", "")]
        start = 2 * int(asked.params["page"]) - 2
        return ApiResponse({"rows": found[start : start + 2]})

    api.routes["/v1/orders"] = answer
    endpoint = ApiEndpoint(
        "orders", "orders", "rows", PageNumberPaging(), since="after", fields=(StreamField("at", "date"),)
    )
    key = ApiAuthSettings("key", name="key", in_question=True)
    limits = ApiLimits(retries=0)
    rest = RestSource(ApiSettings(api.base, (endpoint,), key, "hunter2", limits=limits, private=True))
    bad = TableIdentifier(1, next(_numbers))
    how = SyncOptions(SyncMode.INCREMENTAL, ("id",), cursor="at", bad=FixedBadRowTable(bad))
    orders[1]["at"] = "someday"
    first = sync_stream(tables, place, rest, "orders", how, "one")
    assert (first.written.added, first.bad, first.cursor) == (4, 1, "2024-01-05")
    assert api.count_requests("/v1/orders") == 4
    assert sorted_rows(tables.read(bad).select("place", "reason")) == [
        ("page 1, record 2", "at is 'someday', which is no date.")
    ]
    orders[:] = [{"id": 5, "at": "2024-01-05", "who": None}, {"id": 6, "at": "2024-01-06", "new": [1]}]
    second = sync_stream(tables, place, rest, "orders", replace(how, since=first.cursor), "two")
    assert (second.written.added, second.cursor) == (2, "2024-01-06")
    assert [row["new"] for row in tables.read(place).filter("id = 6").collect()] == ["[1]"]
    orders.clear()
    third = sync_stream(tables, place, rest, "orders", replace(how, since=second.cursor), "three")
    assert (third.written.added, third.cursor) == (0, "2024-01-06")
    api.routes["/v1/orders"] = lambda _: ApiResponse(status=500)
    with pytest.raises(UnavailableError, match=r"cannot be read at /orders: it answers 500"):
        sync_stream(tables, place, rest, "orders", how, "four")
    assert sync_stream(tables, place, rest, "orders", replace(how, bad=None), "one").written.again
    assert "hunter2" not in capfd.readouterr().err


def test_no_plan_of_an_api_holds_its_key(spark: SparkSession, api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    api.routes["/v1/orders"] = lambda _: ApiResponse([{"id": 1}])
    key = ApiAuthSettings("key", name="key")
    rest = RestSource(ApiSettings(api.base, (ApiEndpoint("orders", "orders"),), key, "hunter2", private=True))
    found = rest.read(spark, "orders")
    found.rows.explain(extended=True)
    assert "lakehold_api" in (output := capsys.readouterr().out)
    assert "hunter2" not in output
    assert sorted_rows(found.rows) == [(1,)]
    assert api.count_requests("/v1/orders") == 1
    found.close()
    api.routes["/v1/orders"] = lambda _: ApiResponse([])
    nothing = rest.read(spark, "orders", ReadSpan("id", "1"))
    assert nothing.rows.columns == []
    nothing.close()
    with pytest.raises(DataError, match="No record has a field"):
        rest.read(spark, "orders")
