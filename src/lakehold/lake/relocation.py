"""Relocates the tables of a copied or moved installation into its own warehouse.

The files are there already; what is rewritten is what names them by absolute location: metadata files, manifest lists,
manifests, delete files and the catalog. Each file is replaced at once, and the catalog last: whatever is interrupted
can be started again, and the files of the original are not opened.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs
import pyarrow.parquet as pq

from lakehold.kit.errors import ConflictError
from lakehold.lake import warehouse
from lakehold.lake.avro_copy import Value, copy_avro, read_header
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.lake.table_metadata import read_file

_PATH_BOUND = 2_147_483_546
"""Iceberg's id of the path in a delete file, whose least and greatest value a manifest has."""


def relocate_tables(lake: IcebergCatalog, report: Callable[[str], object]) -> int:
    """Relocate all tables that lie outside the warehouse, and claim its places; return how many tables."""
    outside = [
        (name, location)
        for name, location in sorted(lake.all_locations().items())
        if not _is_own(location, lake.warehouse_url)
    ]
    for number, (name, location) in enumerate(outside, 1):
        old = warehouse.warehouse_of(location)
        if old is None:
            raise ConflictError(f"The table {'.'.join(name)} is at {location!r}, which is no warehouse of Lakehold.")
        report(f"{number:,} of {len(outside):,}: {'.'.join(name)} from {old}")
        _TableRelocation(lake, old).relocate(name, location)
    lake.claim_places()
    return len(outside)


def _is_own(location: str, own: str) -> bool:
    """Return whether a table and all that its metadata names lie in the warehouse."""
    if not warehouse.is_inside(location, own):
        return False
    try:
        return all(warehouse.is_inside(each, own) for each in warehouse.named_locations(location))
    except OSError as error:
        raise _missing_file(location) from error


@dataclass(slots=True)
class _TableRelocation:
    """The relocation of one table from one warehouse to another."""

    lake: IcebergCatalog
    old: str
    _done: set[str] = field(default_factory=set)

    def relocate(self, name: tuple[str, str], location: str) -> None:
        """Rewrite all that the table's current metadata names, and then its place in the catalog."""
        content = json.loads(self._read(location))
        for snapshot in content.get("snapshots") or ():
            self._rewrite_list(snapshot["manifest-list"])
        log = [entry["metadata-file"] for entry in content.get("metadata-log") or ()]
        for earlier in log:
            self._rewrite_metadata(earlier, required=False)
        self._rewrite_metadata(location)
        previous = self._new(log[-1]) if log else None
        self.lake.relocate_table(name, location, self._new(location), previous)

    def _new(self, location: str) -> str:
        """Return the location in the own warehouse; one that lies elsewhere is refused."""
        own, text, old = self.lake.warehouse_url, _without_file_scheme(location), _without_file_scheme(self.old)
        if text == old or text.startswith(f"{old}/"):
            return own.rstrip("/") + text[len(old) :]
        warehouse.need_inside(own, [location])
        return location

    def _rewrite_metadata(self, location: str, *, required: bool = True) -> None:
        try:
            content = json.loads(self._read(location))
        except ConflictError:
            # Older metadata files are history that nobody needs.
            if required:
                raise
            return
        self._write(location, json.dumps(self._replace_locations(content)).encode())

    def _replace_locations(self, content: Any) -> Any:  # noqa: ANN401 - JSON
        if isinstance(content, list):
            return [self._replace_locations(each) for each in content]
        if not isinstance(content, dict):
            return content
        return {
            name: self._new(value)
            if isinstance(value, str) and name in warehouse.LOCATION_NAMES
            else self._replace_locations(value)
            for name, value in content.items()
        }

    def _rewrite_list(self, location: str) -> None:
        manifest = ""

        def replace(name: str, value: Value) -> Value:
            nonlocal manifest
            if name == "manifest_path" and isinstance(value, bytes):
                manifest = value.decode()
                self._rewrite_manifest(manifest)
                return self._new(manifest).encode()
            return self._size(manifest) if name == "manifest_length" else value

        if self._is_first(location):
            self._write(location, copy_avro(self._read(location), replace))

    def _rewrite_manifest(self, location: str) -> None:
        if not self._is_first(location):
            return
        content = self._read(location)
        header, _ = read_header(content)
        has_deletes = header.get("content") == b"deletes"
        path, bound = "", 0

        def replace(name: str, value: Value) -> Value:
            nonlocal path, bound
            if isinstance(value, int):
                if name == "key":
                    bound = value
                return self._size(path) if has_deletes and name == "file_size_in_bytes" else value
            if name == "file_path":
                path = value.decode()
                if has_deletes:
                    self._rewrite_deletes(path)
                return self._new(path).encode()
            is_path = name == "referenced_data_file" or (has_deletes and name == "value" and bound == _PATH_BOUND)
            return self._new(value.decode()).encode() if is_path else value

        self._write(location, copy_avro(content, replace))

    def _rewrite_deletes(self, location: str) -> None:
        """Rewrite the paths of data files in a delete file."""
        if not location.endswith(".parquet") or not self._is_first(location):
            return
        rows = pq.read_table(pa.BufferReader(self._read(location)))
        column = rows.column("file_path")
        names = {name: self._new(name) for name in pc.unique(column).to_pylist()}
        paths = pa.array([names[name] for name in column.to_pylist()], pa.string())
        rows = rows.set_column(rows.schema.get_field_index("file_path"), rows.schema.field("file_path"), paths)
        sink = pa.BufferOutputStream()
        pq.write_table(rows.replace_schema_metadata(rows.schema.metadata), sink, compression="zstd")
        self._write(location, sink.getvalue().to_pybytes())

    def _is_first(self, location: str) -> bool:
        """Return whether a file is met for the first time: several snapshots name the same ones."""
        is_first = location not in self._done
        self._done.add(location)
        return is_first

    def _open(self, location: str) -> tuple[pyarrow.fs.FileSystem, str]:
        system, path = pyarrow.fs.FileSystem.from_uri(self._new(location))
        return system, path

    def _read(self, location: str) -> bytes:
        try:
            return read_file(self._new(location))
        except OSError as error:
            raise _missing_file(self._new(location)) from error

    def _write(self, location: str, content: bytes) -> None:
        """Replace a file at once. One that shares its bytes with the original's, as a hard link, leaves those alone."""
        system, path = self._open(location)
        with system.open_output_stream(f"{path}.relocated") as file:
            file.write(content)
        folder, _, name = path.rpartition("/")
        checksum = f"{folder}/.{name}.crc"
        # Hadoop keeps one beside each local file, which is that of the old content.
        if system.get_file_info(checksum).type is pyarrow.fs.FileType.File:
            system.delete_file(checksum)
        system.move(f"{path}.relocated", path)

    def _size(self, location: str) -> int:
        system, path = self._open(location)
        return int(system.get_file_info(path).size)


def _without_file_scheme(location: str) -> str:
    return urlsplit(location).path if location.startswith("file:") else location


def _missing_file(location: str) -> ConflictError:
    return ConflictError(
        f"There is no file {location!r}, which a table needs.",
        "Copy the whole warehouse to this place, then run `lakehold relocate` again.",
    )
