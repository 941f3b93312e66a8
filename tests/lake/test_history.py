"""Histories: versions that follow the source, late rows in their place, what is gone ended, nothing written twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.settings import Settings
from lakehold.lake.errors import DataError
from lakehold.lake.iceberg_catalog import IcebergCatalog, TableIdentifier
from lakehold.lake.spark.history import HistoryOptions, update_history
from lakehold.lake.spark.table_writer import TableWriteOptions, WriteMode, write_rows
from lakehold.lake.spark.tables import Tables
from tests.lake.expected_history import HistoryVersion, SourceRow, expected_versions
from tests.spark import make_rows

Version = tuple[object, ...]


def at(day: int) -> datetime:
    return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=day)


def day(moment: datetime | None) -> int | None:
    return None if moment is None else (moment.astimezone(UTC) - at(0)).days


def people(spark: SparkSession, *rows: Sequence[object], more: str = "") -> DataFrame:
    """Of an id, a name and a day, and more."""
    found = [(row[0], row[1], None if row[2] is None else at(int(str(row[2]))), *row[3:]) for row in rows]
    return make_rows(spark, found, f"id int, name string, since timestamp{more}")


def versions(tables: Tables, place: TableIdentifier) -> list[Version]:
    """Of an id: what it was called from which day to which."""
    rows = tables.read(place).collect()
    assert len({row.surrogate_key for row in rows}) == len(rows)
    assert all(row.is_current == (row.valid_to is None) for row in rows)
    return sorted(((row.id, row.name, day(row.valid_from), day(row.valid_to)) for row in rows), key=str)


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[IcebergCatalog]:
    """One kind is enough: a history is the same in all of them."""
    found = IcebergCatalog(Settings(data=tmp_path))
    yield found
    found.close()


SEEN = HistoryOptions(["id"], ignore=["since"])
TIMED = HistoryOptions(["id"], at="since", closes_missing=False)


def test_a_history_follows_its_source(spark: SparkSession, tables: Tables, place: TableIdentifier) -> None:
    first = update_history(
        tables, people(spark, (1, "ann", 0), (2, "bob", 0), (3, None, 0)), place, SEEN, mark="r1", moment=at(1)
    )
    assert (first.added, first.total, first.again) == (3, 3, False)
    arriving = people(spark, (1, "ann", 9), (2, "rob", 0), (2, "rob", 0), (4, "eve", 0))
    second = update_history(tables, arriving, place, SEEN, mark="r2", moment=at(2))
    expected = [
        (1, "ann", 1, None),
        (2, "bob", 1, 2),
        (2, "rob", 2, None),
        (3, None, 1, 2),
        (4, "eve", 2, None),
    ]
    assert versions(tables, place) == expected
    again = update_history(tables, people(spark, (7, "zoe", 0)), place, SEEN, mark="r2", moment=at(3))
    assert (again.again, again.snapshot) == (True, second.snapshot)
    assert update_history(tables, arriving, place, SEEN, mark="r3", moment=at(4)).snapshot is None
    assert versions(tables, place) == expected
    marks = [each.mark for each in tables.current_metadata(place).snapshots if each.mark]
    assert marks == ["r1", "r2"]


def test_rows_that_are_late_gone_or_back_are_put_where_they_belong(
    spark: SparkSession, tables: Tables, place: TableIdentifier
) -> None:
    rows = people(spark, (1, "a", 2), (1, "b", 6), (2, "a", 2), (3, "a", 2), (4, "a", 2), (5, "a", 2))
    update_history(tables, rows, place, TIMED, mark="r1", moment=at(7))
    late = people(spark, (1, "c", 4), (1, "z", 0), (2, "a", 5), (3, "x", 2), (4, "b", 3), (4, "a", 5), (5, "a", 1))
    update_history(tables, late, place, TIMED, mark="r2", moment=at(8))
    expected = [
        (1, "a", 2, 4),
        (1, "b", 6, None),
        (1, "c", 4, 6),
        (1, "z", 0, 2),
        (2, "a", 2, None),
        (3, "x", 2, None),  # corrected: the same time, and it came later
        (4, "a", 2, 3),
        (4, "a", 5, None),
        (4, "b", 3, 5),
        (5, "a", 1, None),  # it began before
    ]
    assert versions(tables, place) == expected
    full = replace(TIMED, closes_missing=True)
    update_history(tables, people(spark, (1, "b", 6)), place, full, mark="r3", moment=at(9))
    update_history(tables, people(spark, (1, "b", 6), (2, "a", 5), (3, "y", 11)), place, full, mark="r4", moment=at(12))
    assert [each for each in versions(tables, place) if each[0] in {2, 3, 5}] == [
        (2, "a", 12, None),  # back, and unchanged since before it was gone
        (2, "a", 2, 9),
        (3, "x", 2, 9),
        (3, "y", 11, None),
        (5, "a", 1, 9),
    ]


def test_fields_may_come_change_and_go(spark: SparkSession, tables: Tables, place: TableIdentifier) -> None:
    """Empty is a value like any other, and maps are compared by what is in them."""
    how = HistoryOptions(["ID"], track=None)
    update_history(
        tables, spark.sql("SELECT 1 AS id, 'a' AS name, map('x', 1, 'y', 2) AS m"), place, how, mark="r1", moment=at(1)
    )
    same = spark.sql("SELECT 1L AS Id, 'a' AS Name, map('y', 2, 'x', 1) AS m, CAST(NULL AS int) AS `new one`")
    assert update_history(tables, same, place, how, mark="r2", moment=at(2)).snapshot is None
    more = spark.sql("SELECT 1 AS id, map('y', 2, 'x', 1) AS m, 5 AS `new one`")
    update_history(tables, more, place, replace(how, track=["new one"]), mark="r3", moment=at(3))
    rows = tables.read(place).orderBy("valid_from").collect()
    assert [(row.id, row.name, row["new one"], day(row.valid_from)) for row in rows] == [
        (1, "a", None, 1),
        (1, None, 5, 3),
    ]
    # Narrower tracking leaves what was told apart before.
    update_history(tables, more, place, replace(how, track=["id"]), mark="r4", moment=at(2))
    assert tables.read(place).count() == 2


def test_what_does_not_fit_is_refused_and_nothing_is_lost(
    spark: SparkSession, tables: Tables, place: TableIdentifier
) -> None:
    one = people(spark, (1, "ann", 1))
    update_history(tables, one, place, SEEN, mark="r1", moment=at(1))
    differing = people(spark, (1, "ann", 1), (1, "bob", 1), (1, "ann", 1))
    refusals = [
        (differing, SEEN, "1 keys have several different rows for one time, such as 1 at 2024-01-03"),
        (differing, replace(SEEN, last_by="since"), "Make since unique"),
        (people(spark, (None, "ann", 1)), SEEN, "have no id"),
        (people(spark, (1, "ann", None)), TIMED, "have no since"),
        (one.limit(0), SEEN, "would end all 1 rows"),
        (one, HistoryOptions([]), "needs a key"),
        (one, HistoryOptions(["nr"]), "no field 'nr'"),
        (one, HistoryOptions(["id"], at="name"), "name is string, not a time"),
        (one, HistoryOptions(["since"], at="since"), "key and time at once"),
        (one, HistoryOptions(["id"], ignore=["nr"]), "no field 'nr'"),
        (one.withColumnRenamed("name", "Valid_To"), SEEN, "a field 'valid_to', which every history has"),
    ]
    for source, how, said in refusals:
        with pytest.raises((DataError, InvalidInputError), match=said):
            update_history(tables, source, place, how, mark="r2", moment=at(2))
    with pytest.raises(InvalidInputError, match="needs a time zone"):
        update_history(tables, one, place, SEEN, mark="r2", moment=datetime(2024, 1, 1))  # noqa: DTZ001 - that is the point
    assert versions(tables, place) == [(1, "ann", 1, None)]
    update_history(tables, one.limit(0), place, replace(SEEN, may_be_empty=True), mark="r3", moment=at(3))
    assert update_history(tables, one.limit(0), place, SEEN, mark="r4", moment=at(4)).snapshot is None
    assert versions(tables, place) == [(1, "ann", 1, 3)]


def test_a_table_that_is_no_history_is_left_alone(spark: SparkSession, tables: Tables, place: TableIdentifier) -> None:
    write_rows(tables, place, people(spark, (1, "ann", 1)), TableWriteOptions(WriteMode.APPEND, "w1"))
    with pytest.raises(DataError, match="is not a history"):
        update_history(tables, people(spark, (1, "ann", 1)), place, SEEN, mark="r1", moment=at(1))
    assert tables.read(place).columns == ["id", "name", "since"]


_rows = st.builds(
    SourceRow, st.integers(0, 9), st.sampled_from(["a", "b", None]), note=st.integers(0, 9), rank=st.integers(0, 9)
)
_batch = st.lists(_rows, max_size=4, unique_by=lambda row: row.rank)
_case = st.lists(_batch, min_size=3, max_size=3)
_numbers = count(1_000)


@pytest.mark.slow
@settings(
    max_examples=3,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    cases=st.lists(_case, min_size=60, max_size=60),
    how=st.sampled_from([(True, True), (True, False), (False, True)]),
    moments=st.lists(st.integers(4, 15), min_size=3, max_size=3),
)
def test_it_is_what_one_would_write_by_hand(
    spark: SparkSession,
    tables: Tables,
    cases: list[list[list[SourceRow]]],
    how: tuple[bool, bool],
    moments: list[int],
) -> None:
    place, (timed, full) = TableIdentifier(1, next(_numbers)), how
    history = HistoryOptions(["case"], "since" if timed else None, ["name"], (), full, "rank", may_be_empty=True)
    expected: dict[int, list[HistoryVersion]] = {}
    for number, moment in enumerate(moments):
        values = [
            (case, at(row.since), row.name, row.note, row.rank)
            for case, batches in enumerate(cases)
            for row in batches[number]
        ]
        columns = "case int, since timestamp, name string, note int, rank int"
        source = make_rows(spark, values, columns)
        update_history(tables, source, place, history, mark=f"r{number}", moment=at(moment))
        for case, batches in enumerate(cases):
            expected[case] = expected_versions(expected.get(case, []), batches[number], history, moment)
        found: dict[int, list[HistoryVersion]] = {case: [] for case in expected}
        for row in tables.read(place).orderBy("valid_from").collect():
            since = day(row.since)
            start = day(row.valid_from)
            assert since is not None
            assert start is not None
            found[row.case].append(
                HistoryVersion(SourceRow(since, row.name, row.note, row.rank), start, day(row.valid_to))
            )
        assert found == expected
