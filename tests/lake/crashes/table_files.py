"""Reads a table and its folder with PyIceberg alone, without Spark and without our code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pyiceberg.table import StaticTable

from lakehold.lake.iceberg_catalog import IcebergCatalog, TableIdentifier

Rows = list[tuple[object, ...]]


def rows(lake: IcebergCatalog, place: TableIdentifier, *fields: str) -> Rows | None:
    """The rows that everybody sees; None if there is no table."""
    location = lake.metadata_location(place)
    if location is None:
        return None
    found = StaticTable.from_metadata(location).scan(selected_fields=fields).to_arrow().to_pylist()
    return sorted((tuple(row[name] for name in fields) for row in found), key=str)


def files_on_disk(folder: Path) -> set[str]:
    """Return all files in a folder. The checksums that Hadoop writes beside a file belong to it."""
    found = {file for file in folder.rglob("*") if file.is_file()}
    return {str(file) for file in found if _data_file_of(file) not in found}


def _data_file_of(file: Path) -> Path:
    return file.with_name(file.name.removeprefix(".").removesuffix(".crc")) if file.suffix == ".crc" else Path()


def referenced_files(lake: IcebergCatalog, place: TableIdentifier) -> set[str]:
    """Return the files that the snapshots of a table reference."""
    location = lake.metadata_location(place)
    return set() if location is None else {_path(each) for each in _referenced_files(location)}


def _referenced_files(location: str) -> Iterator[str]:
    table = StaticTable.from_metadata(location)
    yield location
    yield from (each.metadata_file for each in table.metadata.metadata_log)
    for snapshot in table.metadata.snapshots:
        yield snapshot.manifest_list
        for manifest in snapshot.manifests(table.io):
            yield manifest.manifest_path
            yield from (entry.data_file.file_path for entry in manifest.fetch_manifest_entry(table.io))


def _path(address: str) -> str:
    return "/" + address.removeprefix("file:").lstrip("/")
