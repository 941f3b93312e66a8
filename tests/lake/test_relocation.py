"""A copied installation leaves its original alone, and works on its own once it is relocated."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakehold.kit.errors import ConflictError
from lakehold.kit.settings import Settings
from lakehold.lake import warehouse
from lakehold.lake.iceberg_catalog import IcebergCatalog, TableIdentifier, refuse_foreign_warehouse
from lakehold.lake.relocation import relocate_tables
from lakehold.lake.spark import maintenance
from lakehold.lake.spark.table_writer import TableWriteOptions, WriteMode, write_rows
from lakehold.lake.spark.tables import Tables
from tests.lake.test_maintenance import fill

NOW = datetime.now(UTC)


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def rows(tables: Tables, place: TableIdentifier) -> list[tuple[int, int]]:
    return sorted((row.id, row.n) for row in tables.read(place).collect())


def test_a_copy_touches_nothing_of_its_original_and_works_when_relocated(
    spark: SparkSession, tables: Tables, place: TableIdentifier, database_url: str, tmp_path: Path
) -> None:
    original, copied = tmp_path / "data", tmp_path / "copy of it"
    fill(spark, tables, place, times=3)
    before = rows(tables, place)
    past = tables.current_metadata(place).snapshots[1].id
    old_rows = tables.read(place, snapshot=past).count()
    shutil.copytree(original, copied)
    whole = files(original / "warehouse")
    settings = Settings(data=copied, database=database_url)
    with closing(IcebergCatalog(settings)) as own:
        copy = Tables(spark, own)
        change = spark.range(5).selectExpr("id", "id AS n")
        attempts: list[Callable[[], object]] = [
            lambda: refuse_foreign_warehouse(settings),
            lambda: write_rows(copy, place, change, TableWriteOptions(WriteMode.APPEND, "copy")),
            lambda: maintenance.compact(copy, place, files_at_least=2),
            lambda: maintenance.expire(copy, place, days=0, at_least=1, now=NOW + timedelta(days=9)),
            lambda: maintenance.sweep(copy, place, grace=timedelta(0)),
            lambda: copy.rollback(place, past),
            lambda: copy.describe(place, {"id": "x"}),
            lambda: copy.drop(place),
        ]
        for attempt in attempts:
            with pytest.raises(ConflictError, match="lakehold relocate") as refused:
                attempt()
            assert refused.value.code == "foreign_location"
        assert files(original / "warehouse") == whole
        # Until here PostgreSQL's catalog is that of both; the copy takes it.
        progress: list[str] = []
        assert relocate_tables(own, progress.append) == len(progress) == 1
        assert relocate_tables(own, progress.append) == 0
        refuse_foreign_warehouse(settings)
        shutil.move(original / "warehouse", tmp_path / "away")
        assert rows(copy, place) == before
        assert copy.read(place, snapshot=past).count() == old_rows
        write_rows(copy, place, change, TableWriteOptions(WriteMode.MERGE, "copy", keys=["id"]))
        changed = rows(copy, place)
        assert changed[:5] == [(number, number) for number in range(5)]
        maintenance.compact(copy, place, files_at_least=2, deletes_at_least=1)
        maintenance.expire(copy, place, days=0, at_least=1, now=NOW + timedelta(days=9))
        maintenance.sweep(copy, place, grace=timedelta(0))
        assert rows(copy, place) == changed
    assert files(tmp_path / "away") == whole


def test_a_copy_without_its_files_is_not_relocated(
    spark: SparkSession, tables: Tables, place: TableIdentifier, database_url: str, tmp_path: Path
) -> None:
    fill(spark, tables, place, times=1)
    copied = tmp_path / "copy"
    shutil.copytree(tmp_path / "data", copied, ignore=shutil.ignore_patterns("snap-*"))
    with closing(IcebergCatalog(Settings(data=copied, database=database_url))) as own:
        at = own.metadata_location(place)
        with pytest.raises(ConflictError, match="Copy the whole warehouse"):
            relocate_tables(own, str)
        assert own.metadata_location(place) == at
    assert len(rows(tables, place)) == 10


@pytest.mark.parametrize(
    ("location", "folder", "inside"),
    [
        ("/a/warehouse/t1/r2/metadata/x", "/a/warehouse", True),
        ("file:/a/warehouse/t1", "/a/warehouse", True),
        ("file:///a/warehouse/t1", "/a/warehouse/", True),
        ("/a/warehouse2/t1", "/a/warehouse", False),
        ("/a/warehouse/../other/t1", "/a/warehouse", False),
        ("s3a://lake/w/t1", "s3://lake/w", True),
        ("s3://lake/w/../x/t1", "s3://lake/w", False),
        ("s3://other/w/t1", "s3://lake/w", False),
        ("/a/warehouse/t1", "s3://lake/w", False),
    ],
)
def test_what_lies_in_a_warehouse(location: str, folder: str, inside: bool) -> None:
    assert warehouse.is_inside(location, folder) is inside


def test_a_linked_folder_is_the_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert warehouse.is_inside(str(tmp_path / "link" / "t1"), str(tmp_path / "real"))
    assert not warehouse.is_inside(str(tmp_path / "link" / "t1"), str(tmp_path / "link2"))
