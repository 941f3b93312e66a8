"""Reads rows of one Parquet data file lazily, without those that were deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

# What PyIceberg's own planner uses, which would plan all files before the first is read.
from pyiceberg.expressions.visitors import _InclusiveMetricsEvaluator as Metrics
from pyiceberg.expressions.visitors import bind, translate_column_names
from pyiceberg.io.pyarrow import ArrowAccessor, ArrowProjectionVisitor, expression_to_pyarrow, pyarrow_to_schema
from pyiceberg.manifest import DataFile
from pyiceberg.schema import Schema, prune_columns, visit_with_partner
from pyiceberg.types import ListType, MapType

if TYPE_CHECKING:
    from lakehold.lake.scans import TableScan

_BUFFER = 64 * 1024
_FILTERED_BATCH, _MIN_BATCH = 65_536, 128


def file_evaluator(scan: TableScan) -> Callable[[DataFile], bool]:
    """Return a predicate that tells from column metrics whether a file may have matching rows."""
    if not scan.options.where:
        return lambda file: file.record_count > 0
    return Metrics(scan.schema, scan.row_filter).eval


def read_rows(scan: TableScan, file: DataFile, deletes: Iterable[DataFile]) -> Iterator[tuple[pa.Table, int]]:
    """Yield the matching rows of a file, each time with how many rows were scanned for them."""
    gone = _deleted_positions(scan, file, deletes)
    if len(gone) >= file.record_count:
        return
    with scan.table.io.new_input(file.file_path).open() as opened:
        # Pages are read as rows are taken, and not whole columns.
        parquet = pq.ParquetFile(opened, pre_buffer=False, buffer_size=_BUFFER)
        there = pyarrow_to_schema(parquet.schema_arrow, scan.table.name_mapping(), downcast_ns_timestamp_to_us=True)
        read = prune_columns(there, _ids(scan.read_schema), select_full_types=False)
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
    predicate = expression_to_pyarrow(bind(there, ours, case_sensitive=True))
    fragment = ds.ParquetFileFormat().make_fragment(opened)
    return [group.id for part in fragment.split_by_row_group(predicate) for group in part.row_groups]


def _project(scan: TableScan, read: Schema, batch: pa.RecordBatch) -> pa.Table:
    """Project a batch to the fields of the table's schema, whatever they were called when the file was written."""
    visitor = _NullPreservingProjection(read, downcast_ns_timestamp_to_us=True, allow_timestamp_tz_mismatch=True)
    found = visit_with_partner(scan.read_schema, batch, visitor, ArrowAccessor(read))
    return pa.Table.from_batches([pa.RecordBatch.from_struct_array(found)])


class _NullPreservingProjection(ArrowProjectionVisitor):
    """Keeps missing lists and maps of structs null, which PyIceberg would make empty."""

    def list(self, list_type: ListType, list_array: pa.Array | None, value_array: pa.Array | None) -> pa.Array | None:
        return _restore_nulls(super().list(list_type, list_array, value_array), list_array)

    def map(
        self, map_type: MapType, map_array: pa.Array | None, key_result: pa.Array | None, value_result: pa.Array | None
    ) -> pa.Array | None:
        return _restore_nulls(super().map(map_type, map_array, key_result, value_result), map_array)


def _restore_nulls(made: pa.Array | None, there: pa.Array | None) -> pa.Array | None:
    if made is None or there is None or made.null_count == there.null_count:
        return made
    return pc.if_else(there.is_valid(), made, pa.scalar(None, made.type))


def _ids(schema: Schema) -> set[int]:
    return {each for each in schema.field_ids if not isinstance(schema.find_type(each), MapType | ListType)}


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
