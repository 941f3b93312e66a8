"""Scans a table with PyIceberg, from as few files as give enough rows.

Manifests are read as they are needed: of a table with a thousand files, most are unread when the first file has given
enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.avro.file import AvroFile
from pyiceberg.expressions import AlwaysTrue, And, BooleanExpression
from pyiceberg.expressions.visitors import bind, inclusive_projection, manifest_evaluator
from pyiceberg.io import load_file_io
from pyiceberg.io.pyarrow import expression_to_pyarrow, schema_to_pyarrow
from pyiceberg.manifest import (
    DEFAULT_READ_VERSION,
    INITIAL_SEQUENCE_NUMBER,
    MANIFEST_ENTRY_SCHEMAS,
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
)
from pyiceberg.schema import Schema
from pyiceberg.table import StaticTable
from pyiceberg.table.delete_file_index import DeleteFileIndex
from pyiceberg.table.snapshots import Snapshot

from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.lake import parquet_files
from lakehold.lake.filter_expressions import build_expression, find_field
from lakehold.lake.previews import PreviewOptions, TablePreview

_CACHE_SIZE = 16
_CACHEABLE_DELETES = 5_000
"""So many delete files are worth remembering; more would take too much memory."""


def scan_table(location: str, options: PreviewOptions) -> TablePreview:
    """Return the first rows of the table with this metadata file."""
    scan = TableScan(_load_table(location), options)
    rows, full = _collect_rows(scan, options)
    return TablePreview(rows.slice(0, options.rows).select(scan.selected_names), full or len(rows) > options.rows)


@dataclass(frozen=True)
class TableScan:
    """One scan of a table, with its snapshot, schema and filters."""

    table: StaticTable
    options: PreviewOptions

    @cached_property
    def snapshot(self) -> Snapshot | None:
        """The scanned snapshot; None if nothing was ever written."""
        number = self.options.snapshot
        return self.table.current_snapshot() if number is None else self.table.snapshot_by_id(number)

    @cached_property
    def schema(self) -> Schema:
        """All fields of the scanned snapshot."""
        then = None if self.snapshot is None or self.options.snapshot is None else self.snapshot.schema_id
        return self.table.schema() if then is None else self.table.metadata.schema_by_id(then) or self.table.schema()

    @cached_property
    def selected_names(self) -> list[str]:
        """The names of the fields that the result has."""
        if self.options.fields is None:
            return [field.name for field in self.schema.fields]
        if not self.options.fields:
            raise InvalidInputError("A preview shows at least one field.", "Choose some, or ask for all.")
        return list(dict.fromkeys(find_field(self.schema, name).name for name in self.options.fields))

    @cached_property
    def read_schema(self) -> Schema:
        """The fields that are read: the selected ones and those of the filters."""
        asked = [find_field(self.schema, each.field).name for each in self.options.filters]
        return self.schema.select(*self.selected_names, *asked)

    @cached_property
    def row_filter(self) -> BooleanExpression:
        """The filters as one Iceberg expression."""
        found: BooleanExpression = AlwaysTrue()
        for each in self.options.filters:
            found = And(found, build_expression(each, self.schema))
        return found

    @cached_property
    def arrow_filter(self) -> pc.Expression | None:
        """The filters as an Arrow expression, for rows that have been read."""
        return (
            expression_to_pyarrow(bind(self.read_schema, self.row_filter, case_sensitive=True))
            if self.options.where
            else None
        )


def _collect_rows(scan: TableScan, options: PreviewOptions) -> tuple[pa.Table, bool]:
    """Collect rows up to one more than requested; and whether the scan stopped at a limit."""
    schema = schema_to_pyarrow(scan.read_schema, include_field_ids=False)
    taken, scanned, size = [schema.empty_table()], 0, 0
    for rows, seen in _scan_rows(scan):
        found = rows.cast(schema).slice(0, options.rows + 1 - sum(map(len, taken)))
        fits = _count_fitting(found, options.size - size)
        taken.append(found.slice(0, fits))
        scanned, size = scanned + seen, size + taken[-1].nbytes
        if fits < len(found) or scanned >= options.scan_limit:
            return pa.concat_tables(taken), True
        if sum(map(len, taken)) > options.rows:
            break
    return pa.concat_tables(taken), False


def _count_fitting(rows: pa.Table, size: int) -> int:
    """Return how many of the first rows fit into this size."""
    low, high = 0, len(rows)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if rows.slice(0, middle).nbytes <= size else (low, middle - 1)
    return low


def _scan_rows(scan: TableScan) -> Iterator[tuple[pa.Table, int]]:
    """Yield rows as they are read, each time with how many rows were scanned for them."""
    if scan.snapshot is None:
        return
    manifests = scan.snapshot.manifests(scan.table.io)
    deletes = _delete_index(scan, manifests)
    for manifest in manifests:
        if manifest.content == ManifestContent.DATA and _may_match(scan, manifest):
            for entry in _manifest_entries(scan, manifest):
                file = entry.data_file
                number = entry.sequence_number or INITIAL_SEQUENCE_NUMBER
                gone = deletes.for_data_file(number, file, partition_key=file.partition)
                yield from parquet_files.read_rows(scan, file, gone)


def _delete_index(scan: TableScan, manifests: Sequence[ManifestFile]) -> DeleteFileIndex:
    """Return the index of all delete files of a snapshot, since any of them may concern the first row."""
    ours = tuple(each for each in manifests if each.content == ManifestContent.DELETES)
    files = sum((each.added_files_count or 0) + (each.existing_files_count or 0) for each in ours)
    # Lists never change once they are written.
    return (
        _build_delete_index(scan.table.location(), ours)
        if files <= _CACHEABLE_DELETES
        else _build_delete_index.__wrapped__(scan.table.location(), ours)
    )


@lru_cache(maxsize=_CACHE_SIZE)
def _build_delete_index(location: str, manifests: tuple[ManifestFile, ...]) -> DeleteFileIndex:
    found, io = DeleteFileIndex(), load_file_io(location=location)
    for entry in chain.from_iterable(manifest.fetch_manifest_entry(io) for manifest in manifests):
        file = entry.data_file
        if file.content != DataFileContent.POSITION_DELETES or file.file_format != FileFormat.PARQUET:
            raise ConflictError("Rows of this table were deleted in a way that only Spark knows.", "Run a query.")
        found.add_delete_file(entry, partition_key=file.partition)
    # It sorts itself at the first lookup, which two threads must not do at once.
    found.referenced_delete_files()
    return found


def _may_match(scan: TableScan, manifest: ManifestFile) -> bool:
    if not scan.options.where:
        return True
    spec = scan.table.specs()[manifest.partition_spec_id]
    projected = inclusive_projection(scan.schema, spec)(scan.row_filter)
    return manifest_evaluator(spec, scan.schema, projected)(manifest)


def _manifest_entries(scan: TableScan, manifest: ManifestFile) -> Iterator[ManifestEntry]:
    """Yield the files of a manifest that may have matching rows."""
    may_have = parquet_files.file_evaluator(scan)
    with AvroFile[ManifestEntry](
        scan.table.io.new_input(manifest.manifest_path),
        MANIFEST_ENTRY_SCHEMAS[DEFAULT_READ_VERSION],
        read_types={-1: ManifestEntry, 2: DataFile},
        read_enums={0: ManifestEntryStatus, 101: FileFormat, 134: DataFileContent},
    ) as entries:
        for entry in entries:
            if entry.status != ManifestEntryStatus.DELETED and may_have(entry.data_file):
                # What is new in a list has the list's own number.
                if entry.sequence_number is None:
                    entry.sequence_number = manifest.sequence_number
                entry.data_file.spec_id = manifest.partition_spec_id
                yield entry


@lru_cache(maxsize=_CACHE_SIZE)
def _load_table(location: str) -> StaticTable:
    return StaticTable.from_metadata(location)
