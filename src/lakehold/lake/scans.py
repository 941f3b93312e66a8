"""Scans a table with PyIceberg, from as few files as give enough rows.

Manifests are read as they are needed: of a table with a thousand files, most are unread when the first file has given
enough. Of each Parquet file rows are read lazily, without those that were deleted.
"""

import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyiceberg import manifest as manifests
from pyiceberg.avro.file import AvroFile
from pyiceberg.expressions import AlwaysTrue, And, BooleanExpression

# What PyIceberg's own planner uses, which would plan all files before the first is read.
from pyiceberg.expressions.visitors import _InclusiveMetricsEvaluator as Metrics
from pyiceberg.expressions.visitors import bind, inclusive_projection, manifest_evaluator, translate_column_names
from pyiceberg.io import load_file_io
from pyiceberg.io import pyarrow as iceberg_arrow
from pyiceberg.manifest import DataFile, ManifestEntry, ManifestFile
from pyiceberg.schema import Schema, prune_columns, visit_with_partner
from pyiceberg.table import StaticTable
from pyiceberg.table.delete_file_index import DeleteFileIndex
from pyiceberg.types import ListType, MapType

from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import fold_name
from lakehold.lake.filter_expressions import build_expression, find_field
from lakehold.lake.previews import PreviewOptions, TablePreview

_BUFFER = 64 * 1024
_FILTERED_BATCH, _MIN_BATCH = 65_536, 128
_CACHE_SIZE = 16
_CACHEABLE_DELETES = 5_000
"""So many delete files are worth remembering; more would take too much memory."""
_load_table = lru_cache(maxsize=_CACHE_SIZE)(StaticTable.from_metadata)


def scan_table(location: str, options: PreviewOptions) -> TablePreview:
    """Return the first rows of the table with this metadata file."""
    scan = TableScan(_load_table(location), options)
    rows, full = _collect_rows(scan, options)
    return TablePreview(rows.slice(0, options.rows).select(scan.selected_names), full or len(rows) > options.rows)


@dataclass(frozen=True)
class TableScan:
    """One scan of a table, with its schema and filters."""

    table: StaticTable
    options: PreviewOptions

    @cached_property
    def schema(self) -> Schema:
        """All fields of the table that the caller may see."""
        found, hidden = self.table.schema(), self.options.hidden
        return Schema(*(each for each in found.fields if fold_name(each.name) not in hidden)) if hidden else found

    @cached_property
    def selected_names(self) -> list[str]:
        """The names of the fields that the result has."""
        if self.options.fields is None:
            return [field.name for field in self.schema.fields]
        if not self.options.fields:
            raise InvalidInputError("A preview shows at least one field.", "Select some, or all.")
        return list(dict.fromkeys(find_field(self.schema, name).name for name in self.options.fields))

    @cached_property
    def read_schema(self) -> Schema:
        """The fields that are read: the selected ones and those of the filters."""
        asked = [find_field(self.schema, each.field).name for each in self.options.where]
        return self.schema.select(*self.selected_names, *asked)

    @cached_property
    def row_filter(self) -> BooleanExpression:
        """The filters as one Iceberg expression."""
        found: BooleanExpression = AlwaysTrue()
        for each in self.options.where:
            found = And(found, build_expression(each, self.schema))
        return found

    @cached_property
    def arrow_filter(self) -> pc.Expression | None:
        """The filters as an Arrow expression, for rows that have been read."""
        if not self.options.where:
            return None
        return iceberg_arrow.expression_to_pyarrow(bind(self.read_schema, self.row_filter, case_sensitive=True))


def _collect_rows(scan: TableScan, options: PreviewOptions) -> tuple[pa.Table, bool]:
    """Collect rows up to one more than requested; and whether the scan stopped at a limit."""
    schema = iceberg_arrow.schema_to_pyarrow(scan.read_schema, include_field_ids=False)
    taken, scanned, size = [schema.empty_table()], 0, 0
    until = time.monotonic() + options.seconds
    for rows, seen in _scan_rows(scan):
        found = rows.cast(schema).slice(0, options.rows + 1 - sum(map(len, taken)))
        fits = _count_fitting(found, options.size - size)
        taken.append(found.slice(0, fits))
        scanned, size = scanned + seen, size + taken[-1].nbytes
        if fits < len(found) or scanned >= options.scan_limit or time.monotonic() >= until:
            return pa.concat_tables(taken), True
        if sum(map(len, taken)) > options.rows:
            break
    return pa.concat_tables(taken), False


def _count_fitting(rows: pa.Table, size: int) -> int:
    """Return how many of the first rows fit into this size."""
    return bisect_right(range(1, len(rows) + 1), size, key=lambda count: rows.slice(0, count).nbytes)


def _scan_rows(scan: TableScan) -> Iterator[tuple[pa.Table, int]]:
    """Yield rows as they are read, each time with how many rows were scanned for them."""
    snapshot = scan.table.current_snapshot()
    found = snapshot.manifests(scan.table.io) if snapshot else []
    deletes = _delete_index(scan, found)
    for manifest in found:
        if manifest.content == manifests.ManifestContent.DATA and _may_match(scan, manifest):
            for entry in _manifest_entries(scan, manifest):
                file = entry.data_file
                number = entry.sequence_number or manifests.INITIAL_SEQUENCE_NUMBER
                gone = deletes.for_data_file(number, file, partition_key=file.partition)
                yield from _read_rows(scan, file, gone)


def _delete_index(scan: TableScan, files: Sequence[ManifestFile]) -> DeleteFileIndex:
    """Return the index of all delete files of a snapshot, since any of them may concern the first row."""
    ours = tuple(each for each in files if each.content == manifests.ManifestContent.DELETES)
    count = sum((each.added_files_count or 0) + (each.existing_files_count or 0) for each in ours)
    # Lists never change once they are written.
    build = _build_delete_index if count <= _CACHEABLE_DELETES else _build_delete_index.__wrapped__
    return build(scan.table.location(), ours)


@lru_cache(maxsize=_CACHE_SIZE)
def _build_delete_index(location: str, lists: tuple[ManifestFile, ...]) -> DeleteFileIndex:
    found, io = DeleteFileIndex(), load_file_io(location=location)
    for entry in chain.from_iterable(manifest.fetch_manifest_entry(io) for manifest in lists):
        file = entry.data_file
        if (
            file.content != manifests.DataFileContent.POSITION_DELETES
            or file.file_format != manifests.FileFormat.PARQUET
        ):
            raise ConflictError("This table has deleted rows that only Spark can filter out.", "Run a query.")
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
    may_have = _file_evaluator(scan)
    with AvroFile[ManifestEntry](
        scan.table.io.new_input(manifest.manifest_path),
        manifests.MANIFEST_ENTRY_SCHEMAS[manifests.DEFAULT_READ_VERSION],
        read_types={-1: ManifestEntry, 2: DataFile},
        read_enums={0: manifests.ManifestEntryStatus, 101: manifests.FileFormat, 134: manifests.DataFileContent},
    ) as entries:
        for entry in entries:
            if entry.status != manifests.ManifestEntryStatus.DELETED and may_have(entry.data_file):
                # What is new in a list has the list's own number.
                if entry.sequence_number is None:
                    entry.sequence_number = manifest.sequence_number
                entry.data_file.spec_id = manifest.partition_spec_id
                yield entry


def _file_evaluator(scan: TableScan) -> Callable[[DataFile], bool]:
    """Return a predicate that tells from column metrics whether a file may have matching rows."""
    if not scan.options.where:
        return lambda file: file.record_count > 0
    return Metrics(scan.schema, scan.row_filter).eval


def _read_rows(scan: TableScan, file: DataFile, deletes: Iterable[DataFile]) -> Iterator[tuple[pa.Table, int]]:
    """Yield the matching rows of a file, each time with how many rows were scanned for them."""
    gone = _deleted_positions(scan, file, deletes)
    if len(gone) >= file.record_count:
        return
    with scan.table.io.new_input(file.file_path).open() as opened:
        # Pages are read as rows are taken, and not whole columns.
        parquet = pq.ParquetFile(opened, pre_buffer=False, buffer_size=_BUFFER)
        there = iceberg_arrow.pyarrow_to_schema(
            parquet.schema_arrow, scan.table.name_mapping(), downcast_ns_timestamp_to_us=True
        )
        kinds = {number: scan.read_schema.find_type(number) for number in scan.read_schema.field_ids}
        ids = {number for number, kind in kinds.items() if not isinstance(kind, MapType | ListType)}
        read = prune_columns(there, ids, select_full_types=False)
        names = [field.name for field in read.fields] or parquet.schema_arrow.names[:1]
        groups: Sequence[int] = range(parquet.num_row_groups)
        if scan.options.where and len(groups) > 1:
            groups = _matching_row_groups(scan, opened, there)
        for batch, start in _read_batches(scan, parquet, groups, names):
            scanned, kept = len(batch), _drop_deleted(batch, start, gone)
            projected = _project(scan, read, kept)
            yield projected if scan.arrow_filter is None else projected.filter(scan.arrow_filter), scanned


def _read_batches(
    scan: TableScan, parquet: pq.ParquetFile, groups: Sequence[int], names: list[str]
) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Yield batches of rows, each with the position of its first row in the file."""
    start = 0
    for group in range(parquet.num_row_groups):
        row_group = parquet.metadata.row_group(group)
        if group in groups:
            at = start
            for batch in parquet.iter_batches(_batch_size(scan, row_group), row_groups=[group], columns=names):
                yield batch, at
                at += len(batch)
        start += row_group.num_rows


def _batch_size(scan: TableScan, group: pq.RowGroupMetaData) -> int:
    """Return how many rows to read at once: as many as requested unless they are large, many if most will not match."""
    one = max(1, int(group.total_byte_size) // max(1, int(group.num_rows)))
    count = _FILTERED_BATCH if scan.options.where else max(_MIN_BATCH, scan.options.rows + 1)
    return max(1, min(count, scan.options.size // one))


def _matching_row_groups(scan: TableScan, opened: pa.NativeFile, there: Schema) -> list[int]:
    """Return the row groups that may match, by their statistics."""
    ours = translate_column_names(bind(scan.schema, scan.row_filter, case_sensitive=True), there)
    predicate = iceberg_arrow.expression_to_pyarrow(bind(there, ours, case_sensitive=True))
    fragment = ds.ParquetFileFormat().make_fragment(opened)
    return [group.id for part in fragment.split_by_row_group(predicate) for group in part.row_groups]


def _project(scan: TableScan, read: Schema, batch: pa.RecordBatch) -> pa.Table:
    """Project a batch to the fields of the table's schema, whatever they were called when the file was written."""
    visitor = _NullPreservingProjection(read, downcast_ns_timestamp_to_us=True, allow_timestamp_tz_mismatch=True)
    found = visit_with_partner(scan.read_schema, batch, visitor, iceberg_arrow.ArrowAccessor(read))
    return pa.Table.from_batches([pa.RecordBatch.from_struct_array(found)])


class _NullPreservingProjection(iceberg_arrow.ArrowProjectionVisitor):
    """Keeps missing lists and maps of structs null, which PyIceberg would make empty."""

    def list(self, list_type: ListType, list_array: pa.Array | None, value_array: pa.Array | None) -> pa.Array | None:
        return _restore_nulls(super().list(list_type, list_array, value_array), list_array)

    def map(
        self, map_type: MapType, map_array: pa.Array | None, key_result: pa.Array | None, value_result: pa.Array | None
    ) -> pa.Array | None:
        return _restore_nulls(super().map(map_type, map_array, key_result, value_result), map_array)


def _restore_nulls(mapped: pa.Array | None, there: pa.Array | None) -> pa.Array | None:
    if mapped is None or there is None or mapped.null_count == there.null_count:
        return mapped
    return pc.if_else(there.is_valid(), mapped, pa.scalar(None, mapped.type))


def _deleted_positions(scan: TableScan, file: DataFile, deletes: Iterable[DataFile]) -> np.ndarray:
    """Return the positions of the deleted rows of a file."""
    found = [np.empty(0, np.int64)]
    for each in deletes:
        with scan.table.io.new_input(each.file_path).open() as opened:
            fragment = ds.ParquetFileFormat().make_fragment(opened)
            positions = fragment.to_table(columns=["pos"], filter=pc.field("file_path") == file.file_path)
            found.append(positions.column("pos").to_numpy())
    return np.unique(np.concatenate(found))


def _drop_deleted(batch: pa.RecordBatch, start: int, gone: np.ndarray) -> pa.RecordBatch:
    first, last = np.searchsorted(gone, [start, start + len(batch)])
    if first == last:
        return batch
    kept = np.ones(len(batch), dtype=bool)
    kept[gone[first:last] - start] = False
    return batch.filter(pa.array(kept))
