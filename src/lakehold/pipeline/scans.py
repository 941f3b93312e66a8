"""Rows of a table by PyIceberg, from as few files as give enough of them.

Files are looked up as they are needed: a table of a thousand files has most of its lists unread when the first file has
given enough.
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
from lakehold.pipeline import parquets
from lakehold.pipeline.filters import expression, field_of
from lakehold.pipeline.previews import Preview, Wanted

_REMEMBERED = 16
_FEW = 5_000
"""So many delete files are worth remembering; more would take too much memory."""


def scanned(location: str, wanted: Wanted) -> Preview:
    """The first rows of the table that a metadata file tells of."""
    scan = Scan(_table(location), wanted)
    rows, full = _taken(scan, wanted)
    return Preview(rows.slice(0, wanted.rows).select(scan.shown), full or len(rows) > wanted.rows)


@dataclass(frozen=True)
class Scan:
    """A look at a table."""

    table: StaticTable
    wanted: Wanted

    @cached_property
    def snapshot(self) -> Snapshot | None:
        """The state that is looked at; None if nothing was ever written."""
        number = self.wanted.snapshot
        return self.table.current_snapshot() if number is None else self.table.snapshot_by_id(number)

    @cached_property
    def schema(self) -> Schema:
        """All fields of that state."""
        then = None if self.snapshot is None or self.wanted.snapshot is None else self.snapshot.schema_id
        return self.table.schema() if then is None else self.table.metadata.schema_by_id(then) or self.table.schema()

    @cached_property
    def shown(self) -> list[str]:
        """The names of those that are shown."""
        if self.wanted.fields is None:
            return [field.name for field in self.schema.fields]
        if not self.wanted.fields:
            raise InvalidInputError("A preview shows at least one field.", "Choose some, or ask for all.")
        return list(dict.fromkeys(field_of(self.schema, name).name for name in self.wanted.fields))

    @cached_property
    def read(self) -> Schema:
        """Those that are read: the shown ones and those that are asked."""
        asked = [field_of(self.schema, each.field).name for each in self.wanted.filters]
        return self.schema.select(*self.shown, *asked)

    @cached_property
    def where(self) -> BooleanExpression:
        """What rows must be like."""
        found: BooleanExpression = AlwaysTrue()
        for each in self.wanted.filters:
            found = And(found, expression(each, self.schema))
        return found

    @cached_property
    def filter(self) -> pc.Expression | None:
        """The same for rows that have been read."""
        return expression_to_pyarrow(bind(self.read, self.where, case_sensitive=True)) if self.wanted.where else None


def _taken(scan: Scan, wanted: Wanted) -> tuple[pa.Table, bool]:
    """Rows up to one more than wanted; and whether it stopped for another reason."""
    schema = schema_to_pyarrow(scan.read, include_field_ids=False)
    taken, looked, size = [schema.empty_table()], 0, 0
    for rows, seen in _rows(scan):
        found = rows.cast(schema).slice(0, wanted.rows + 1 - sum(map(len, taken)))
        fits = _fitting(found, wanted.size - size)
        taken.append(found.slice(0, fits))
        looked, size = looked + seen, size + taken[-1].nbytes
        if fits < len(found) or looked >= wanted.looked_at:
            return pa.concat_tables(taken), True
        if sum(map(len, taken)) > wanted.rows:
            break
    return pa.concat_tables(taken), False


def _fitting(rows: pa.Table, size: int) -> int:
    """How many of the first rows are no larger."""
    low, high = 0, len(rows)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if rows.slice(0, middle).nbytes <= size else (low, middle - 1)
    return low


def _rows(scan: Scan) -> Iterator[tuple[pa.Table, int]]:
    """Rows as they come, each time with how many were looked at for them."""
    if scan.snapshot is None:
        return
    manifests = scan.snapshot.manifests(scan.table.io)
    deletes = _deletes(scan, manifests)
    for manifest in manifests:
        if manifest.content == ManifestContent.DATA and _may_match(scan, manifest):
            for entry in _entries(scan, manifest):
                file = entry.data_file
                number = entry.sequence_number or INITIAL_SEQUENCE_NUMBER
                gone = deletes.for_data_file(number, file, partition_key=file.partition)
                yield from parquets.rows(scan, file, gone)


def _deletes(scan: Scan, manifests: Sequence[ManifestFile]) -> DeleteFileIndex:
    """The delete files of a snapshot, all of them, since any may be about the first row."""
    ours = tuple(each for each in manifests if each.content == ManifestContent.DELETES)
    files = sum((each.added_files_count or 0) + (each.existing_files_count or 0) for each in ours)
    # Lists never change once they are written.
    return _indexed(scan.table.location(), ours) if files <= _FEW else _indexed.__wrapped__(scan.table.location(), ours)


@lru_cache(maxsize=_REMEMBERED)
def _indexed(location: str, manifests: tuple[ManifestFile, ...]) -> DeleteFileIndex:
    found, io = DeleteFileIndex(), load_file_io(location=location)
    for entry in chain.from_iterable(manifest.fetch_manifest_entry(io) for manifest in manifests):
        file = entry.data_file
        if file.content != DataFileContent.POSITION_DELETES or file.file_format != FileFormat.PARQUET:
            raise ConflictError("Rows of this table were deleted in a way that only Spark knows.", "Run a query.")
        found.add_delete_file(entry, partition_key=file.partition)
    # It sorts itself when it is first asked, which two threads must not do at once.
    found.referenced_delete_files()
    return found


def _may_match(scan: Scan, manifest: ManifestFile) -> bool:
    if not scan.wanted.where:
        return True
    spec = scan.table.specs()[manifest.partition_spec_id]
    projected = inclusive_projection(scan.schema, spec)(scan.where)
    return manifest_evaluator(spec, scan.schema, projected)(manifest)


def _entries(scan: Scan, manifest: ManifestFile) -> Iterator[ManifestEntry]:
    """The files of a list that may have rows, one after the other."""
    may_have = parquets.evaluator(scan)
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


@lru_cache(maxsize=_REMEMBERED)
def _table(location: str) -> StaticTable:
    return StaticTable.from_metadata(location)
