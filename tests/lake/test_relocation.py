"""A copied installation leaves its original alone, and works on its own once it is relocated."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.fs
import pytest
from pyspark.sql import SparkSession

from lakehold.kit.errors import ConflictError, UnavailableError
from lakehold.kit.settings import Settings
from lakehold.lake import installation, warehouse
from lakehold.lake.iceberg_catalog import IcebergCatalog, TableIdentifier, refuse_foreign_warehouse
from lakehold.lake.relocation import relocate_tables
from lakehold.lake.spark import maintenance
from lakehold.lake.spark.table_writer import TableWriteOptions, WriteMode, write_rows
from lakehold.lake.spark.tables import Tables
from lakehold.lake.volumes import Volume
from tests import postgres
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


def refuse(*attempts: Callable[[], object]) -> None:
    for attempt in attempts:
        with pytest.raises(ConflictError, match="lakehold relocate") as refused:
            attempt()
        assert refused.value.code == "foreign_location"


def put(volume: Volume, name: str) -> None:
    with volume.open_partial() as partial:
        partial.write(b"1")
        volume.publish(partial, name, replace=False)


def test_of_two_that_share_a_warehouse_only_the_one_that_has_it_touches_it(
    spark: SparkSession, place: TableIdentifier, tmp_path: Path
) -> None:
    first, copied, fresh = (
        Settings(data=tmp_path / name, warehouse=str(tmp_path / "w"), volumes=str(tmp_path / "v"))
        for name in ("first", "copy", "fresh")
    )
    for settings in (first, fresh):
        settings.data.mkdir()
    change = spark.range(5).selectExpr("id", "id AS n")
    with ExitStack() as stack:
        opened = [stack.enter_context(closing(IcebergCatalog(each))) for each in (first, copied, fresh)]
        refuse_foreign_warehouse(first)
        tables = Tables(spark, opened[0])
        fill(spark, tables, place, times=3)
        put(Volume(first, place), "a.csv")
        shutil.copytree(first.data, copied.data)
        copy, empty = Tables(spark, opened[1]), Tables(spark, opened[2])
        # Of what is written after that, the copy's catalog knows nothing.
        later = TableIdentifier(place.tenant, place.number * 1000)
        write_rows(tables, later, change, TableWriteOptions(WriteMode.APPEND, "later"))
        whole = files(tmp_path / "w")
        refuse(
            lambda: refuse_foreign_warehouse(copied),
            lambda: write_rows(copy, place, change, TableWriteOptions(WriteMode.APPEND, "copy")),
            lambda: write_rows(copy, later, change, TableWriteOptions(WriteMode.APPEND, "copy")),
            lambda: maintenance.compact(copy, place, files_at_least=2),
            lambda: maintenance.expire(copy, place, days=0, at_least=1, now=NOW + timedelta(days=9)),
            lambda: maintenance.sweep(copy, place, grace=timedelta(0)),
            lambda: maintenance.sweep(copy, later, grace=timedelta(0)),
            lambda: copy.drop(place),
            lambda: refuse_foreign_warehouse(fresh),
            lambda: maintenance.sweep(empty, place, grace=timedelta(0)),
            lambda: write_rows(empty, place, change, TableWriteOptions(WriteMode.APPEND, "fresh")),
        )
        assert files(tmp_path / "w") == whole
        # The copy takes the place: from then on the original is the one that has to leave it alone.
        assert relocate_tables(copy.lake, str) == 0
        refuse_foreign_warehouse(copied)
        write_rows(copy, place, change, TableWriteOptions(WriteMode.APPEND, "copy"))
        refuse(
            lambda: refuse_foreign_warehouse(first),
            lambda: maintenance.sweep(tables, later, grace=timedelta(0)),
            lambda: write_rows(tables, place, change, TableWriteOptions(WriteMode.APPEND, "first")),
        )


def test_a_volumes_folder_that_another_installation_takes_is_left_alone(tmp_path: Path) -> None:
    place, shared = TableIdentifier(1, 7), str(tmp_path / "v")
    first, second = (Settings(data=tmp_path / name, volumes=shared) for name in ("first", "second"))
    for settings in (first, second):
        settings.data.mkdir()
    refuse_foreign_warehouse(first)
    volume = Volume(first, place)
    put(volume, "a.csv")
    refuse(lambda: refuse_foreign_warehouse(second))
    with closing(IcebergCatalog(second)) as lake:
        lake.claim_places()
    refuse(lambda: Volume(first, place), lambda: refuse_foreign_warehouse(first))
    refuse_foreign_warehouse(second)
    put(Volume(second, place), "b.csv")


def test_a_place_without_a_marker_is_claimed_by_who_has_tables_in_it(tmp_path: Path) -> None:
    """As each was before there were markers."""
    place, folder = TableIdentifier(1, 7), tmp_path / "w"
    (folder / "t1" / "r7").mkdir(parents=True)
    (tmp_path / "data" / "volumes" / "t1").mkdir(parents=True)
    settings = Settings(data=tmp_path / "data", warehouse=str(folder))
    refuse(lambda: refuse_foreign_warehouse(settings))
    assert not (folder / installation.MARKER).exists()
    with closing(IcebergCatalog(settings)) as lake, sqlite3.connect(settings.data / "lake.sqlite") as connection:
        row = ("lakehold", place.namespace, place.table, f"{folder}/t1/r7/metadata/1.metadata.json", None, "TABLE")
        connection.execute("INSERT INTO iceberg_tables VALUES (?, ?, ?, ?, ?, ?)", row)
        connection.commit()
        lake.need_own_places()
    markers = {(root / installation.MARKER).read_text() for root in (folder, settings.data / "volumes")}
    (marker,) = markers
    assert str(settings.data) in marker
    refuse_foreign_warehouse(settings)
    (folder / installation.MARKER).unlink()
    refuse_foreign_warehouse(Settings(data=tmp_path / "data", warehouse=f"{folder}/"))
    assert (folder / installation.MARKER).read_text() == marker


def test_a_moved_data_folder_is_another_installation_until_it_is_relocated(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data", warehouse=str(tmp_path / "w"))
    settings.data.mkdir()
    refuse_foreign_warehouse(settings)
    (tmp_path / "link").symlink_to(settings.data)
    refuse_foreign_warehouse(settings.model_copy(update={"data": tmp_path / "link"}))
    moved = settings.model_copy(update={"data": settings.data.rename(tmp_path / "moved")})
    refuse(lambda: refuse_foreign_warehouse(moved))
    with closing(IcebergCatalog(moved)) as lake:
        relocate_tables(lake, str)
    refuse_foreign_warehouse(moved)


def test_a_restored_dump_is_another_installation(server: postgres.Server, tmp_path: Path) -> None:
    def open_with(name: str) -> Settings:
        return Settings(data=tmp_path / "data", database=server.url(name), warehouse=str(tmp_path / "w"))

    original = server.create()
    refuse_foreign_warehouse(open_with(original))
    refuse_foreign_warehouse(open_with(original).model_copy(update={"data": tmp_path / "of another server"}))
    refuse(lambda: refuse_foreign_warehouse(open_with(server.create(original))))


def test_a_bucket_has_a_marker_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bucket" / "lake").mkdir(parents=True)

    class Buckets:
        """Has s3: on this machine, and nothing else."""

        @staticmethod
        def from_uri(uri: str) -> tuple[pyarrow.fs.FileSystem, str]:
            local = pyarrow.fs.LocalFileSystem()
            if not uri.startswith("s3://"):
                return local, uri
            return pyarrow.fs.SubTreeFileSystem(str(tmp_path), local), uri.removeprefix("s3://")

    monkeypatch.setattr(pyarrow.fs, "FileSystem", Buckets)
    first, second = (Settings(data=tmp_path / name, warehouse="s3a://bucket/lake/") for name in ("first", "second"))
    for settings in (first, second):
        settings.data.mkdir()
    refuse_foreign_warehouse(first)
    assert (tmp_path / "bucket" / "lake" / installation.MARKER).read_text().endswith(f"\n{first.data}\n")
    refuse(lambda: refuse_foreign_warehouse(second))
    gone = Settings(data=tmp_path / "first", warehouse="s3://nowhere/lake")
    with pytest.raises(UnavailableError, match="cannot be read or written"):
        refuse_foreign_warehouse(gone)


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
