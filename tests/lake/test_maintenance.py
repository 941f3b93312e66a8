"""Upkeep: what is old or nobody's goes, what is small becomes few, and no row is ever another one for it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakehold.kit.errors import ConflictError, InvalidInputError, UnavailableError
from lakehold.kit.settings import Settings
from lakehold.lake.iceberg_catalog import IcebergCatalog, TableIdentifier
from lakehold.lake.spark.maintenance import compact, expire, sweep
from lakehold.lake.spark.table_writer import TableWriteOptions, WriteMode, write_rows
from lakehold.lake.spark.tables import Tables

LATER, NO_GRACE = timedelta(days=9), timedelta(0)


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[IcebergCatalog]:
    """In a file: files are what this is about, wherever the catalog is."""
    found = IcebergCatalog(Settings(data=tmp_path))
    yield found
    found.close()


def fill(spark: SparkSession, tables: Tables, place: TableIdentifier, *, times: int) -> None:
    """A file for each time, and at the end a merge that deletes a row of the first one."""
    for number in range(times):
        rows = spark.range(number * 10, number * 10 + 10, 1, 1)
        write_rows(
            tables, place, rows.selectExpr("id", "id % 3 AS n"), TableWriteOptions(WriteMode.APPEND, f"w{number}")
        )
    change = spark.range(3, 4, 1, 1).selectExpr("id", "-1L AS n")
    write_rows(tables, place, change, TableWriteOptions(WriteMode.MERGE, "change", keys=["id"]))


def on_disk(tmp_path: Path, place: TableIdentifier) -> set[Path]:
    folder = tmp_path / "warehouse" / place.namespace / place.table
    return {file for file in folder.rglob("*") if file.is_file()}


def as_of_each(tables: Tables, place: TableIdentifier) -> dict[int, list[tuple[int, int]]]:
    """The rows of every snapshot that is there."""
    return {
        each.id: sorted((row.id, row.n) for row in tables.read(place, snapshot=each.id).collect())
        for each in tables.current_metadata(place).snapshots
    }


def test_old_snapshots_expire_with_their_files_but_for_the_last(
    spark: SparkSession, tables: Tables, place: TableIdentifier, tmp_path: Path
) -> None:
    for number in range(4):
        write_rows(
            tables,
            place,
            spark.range(number, number + 5).selectExpr("id", "id AS n"),
            TableWriteOptions(WriteMode.OVERWRITE, f"w{number}"),
        )
    before, files = as_of_each(tables, place), on_disk(tmp_path, place)
    now = datetime.now(UTC)
    assert expire(tables, place, days=1, at_least=1, now=now).snapshots == 0
    assert (as_of_each(tables, place), on_disk(tmp_path, place) >= files) == (before, True)
    done = expire(tables, place, days=1, at_least=2, now=now + LATER)
    assert (done.snapshots, done.files > 0) == (len(before) - 2, True)
    assert len(on_disk(tmp_path, place)) < len(files)
    after = as_of_each(tables, place)
    assert after == {number: before[number] for number in after}
    assert len(after) == 2
    with pytest.raises(InvalidInputError, match="At least one"):
        expire(tables, place, days=1, at_least=0, now=now)


def test_small_files_and_deletes_become_few_files_with_the_same_rows(
    spark: SparkSession, tables: Tables, place: TableIdentifier, tmp_path: Path
) -> None:
    fill(spark, tables, place, times=3)
    before = as_of_each(tables, place)
    current = tables.current_metadata(place).current
    assert current is not None
    assert current.count("total-position-deletes") == 1
    done = compact(tables, place, files_at_least=2, deletes_at_least=1)
    assert (done.rewritten, done.written, done.deletes_rewritten) == (4, 1, 1)
    now = tables.current_metadata(place).current
    assert now is not None
    assert (now.count("total-data-files"), now.count("total-delete-files")) == (1, 0)
    assert as_of_each(tables, place) == {
        **before,
        **{each.id: before[current.id] for each in tables.current_metadata(place).snapshots[len(before) :]},
    }
    again = compact(tables, place, files_at_least=2, deletes_at_least=1)
    assert (again.rewritten, again.written, again.deletes_rewritten) == (0, 0, 0)
    expire(tables, place, days=1, at_least=1, now=datetime.now(UTC) + LATER)
    assert len([file for file in on_disk(tmp_path, place) if file.suffix == ".parquet"]) == 1
    assert list(as_of_each(tables, place).values()) == [before[current.id]]


@pytest.mark.slow
def test_what_a_killed_write_has_left_goes_and_nothing_else(
    spark: SparkSession, tables: Tables, place: TableIdentifier, tmp_path: Path
) -> None:
    fill(spark, tables, place, times=2)
    before, files = as_of_each(tables, place), on_disk(tmp_path, place)
    worker = [sys.executable, "-m", "tests.lake.killed_writer", str(tmp_path), str(place.number)]
    ended = subprocess.run(worker, check=False, capture_output=True, timeout=300)  # noqa: S603 - our own
    assert ended.returncode != 0
    left = on_disk(tmp_path, place) - files
    orphans = [file for file in left if file.suffix == ".parquet"]
    assert orphans, ended.stderr.decode()[-2_000:]
    assert sweep(tables, place, grace=timedelta(hours=1)) == 0
    assert on_disk(tmp_path, place) == files | left
    assert sweep(tables, place, grace=NO_GRACE) == len(orphans)
    assert on_disk(tmp_path, place) == files
    assert as_of_each(tables, place) == before
    assert tables.current_metadata(place).snapshot_of_write("killed") is None
    assert sweep(tables, place, grace=NO_GRACE) == 0


def test_of_a_table_that_is_not_there_everything_goes(
    spark: SparkSession, tables: Tables, place: TableIdentifier, tmp_path: Path
) -> None:
    neighbour = TableIdentifier(place.tenant, place.number * 10)
    write_rows(tables, neighbour, spark.range(3), TableWriteOptions(WriteMode.APPEND, "w"))
    left = tmp_path / "warehouse" / place.namespace / place.table / "data" / "half.parquet"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"PAR1")
    assert sweep(tables, place) == 0
    os.utime(left, (time.time() - 4 * 86_400,) * 2)
    young = left.with_name("young.parquet")
    young.write_bytes(b"PAR1")
    assert sweep(tables, place) == 1
    assert on_disk(tmp_path, place) == {young}
    assert sweep(tables, place, grace=NO_GRACE) == 1
    assert not on_disk(tmp_path, place)
    assert sweep(tables, place) == 0
    assert tables.read(neighbour).count() == 3
    with pytest.raises(ConflictError, match="no data yet"):
        compact(tables, place)


def test_a_folder_with_files_of_another_table_is_not_swept(
    spark: SparkSession, tables: Tables, place: TableIdentifier, tmp_path: Path
) -> None:
    """As one has that an earlier release restored under a new number."""
    fill(spark, tables, place, times=2)
    moved = TableIdentifier(place.tenant, place.number * 10)
    with sqlite3.connect(tmp_path / "lake.sqlite") as connection:
        connection.execute("UPDATE iceberg_tables SET table_name = ? WHERE table_name = ?", (moved.table, place.table))
    before = as_of_each(tables, moved)
    orphan = tmp_path / "warehouse" / place.namespace / place.table / "data" / "orphan.parquet"
    orphan.write_bytes(b"PAR1")
    files = on_disk(tmp_path, place)
    # Its folder has a number of which there is no table.
    assert sweep(tables, place, grace=NO_GRACE) == 0
    assert on_disk(tmp_path, place) == files
    # And now one of which there is a table, which takes for orphans what the other one names.
    write_rows(tables, place, spark.range(3), TableWriteOptions(WriteMode.APPEND, "new"))
    both = on_disk(tmp_path, place)
    assert both > files
    assert [sweep(tables, each, grace=NO_GRACE) for each in (place, moved)] == [0, 0]
    assert on_disk(tmp_path, place) == both
    tables.drop(place)
    assert sweep(tables, place, grace=NO_GRACE) == 0
    assert as_of_each(tables, moved) == before
    # When it has the folder for itself, its own sweep is the one that cleans it.
    assert sweep(tables, moved, grace=NO_GRACE) == 1
    assert not orphan.exists()
    assert as_of_each(tables, moved) == before


def test_upkeep_that_fails_says_so_without_java(
    spark: SparkSession, tables: Tables, place: TableIdentifier, tmp_path: Path
) -> None:
    fill(spark, tables, place, times=2)
    for file in on_disk(tmp_path, place):
        if file.name.startswith("snap-"):
            file.unlink()
    for upkeep in (lambda: compact(tables, place), lambda: sweep(tables, place)):
        with pytest.raises(UnavailableError) as refused:
            upkeep()
        assert "Exception" not in str(refused.value)
        assert str(tmp_path) not in str(refused.value)
