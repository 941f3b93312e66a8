"""The rows of one data file, no more of it than somebody takes, without those that were deleted."""

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
    from lakehold.pipeline.scans import Scan

_BUFFER = 64 * 1024
_MANY, _FEW = 65_536, 128


def evaluator(scan: Scan) -> Callable[[DataFile], bool]:
    """Whether a file may have rows that match, by what is known of its values."""
    if not scan.wanted.where:
        return lambda file: file.record_count > 0
    return Metrics(scan.schema, scan.where).eval


def rows(scan: Scan, file: DataFile, deletes: Iterable[DataFile]) -> Iterator[tuple[pa.Table, int]]:
    """The rows of a file, each time with how many were looked at."""
    gone = _gone(scan, file, deletes)
    if len(gone) >= file.record_count:
        return
    with scan.table.io.new_input(file.file_path).open() as opened:
        # Pages are read as rows are taken, and not whole columns.
        parquet = pq.ParquetFile(opened, pre_buffer=False, buffer_size=_BUFFER)
        there = pyarrow_to_schema(parquet.schema_arrow, scan.table.name_mapping(), downcast_ns_timestamp_to_us=True)
        read = prune_columns(there, _ids(scan.read), select_full_types=False)
        names = [field.name for field in read.fields] or parquet.schema_arrow.names[:1]
        groups: Sequence[int] = range(parquet.num_row_groups)
        if scan.wanted.where and len(groups) > 1:
            groups = _matching(scan, opened, there)
        for batch, start in _batches(scan, parquet, groups, names):
            looked, kept = len(batch), _without(batch, start, gone)
            projected = _projected(scan, read, kept)
            yield projected if scan.filter is None else projected.filter(scan.filter), looked


def _batches(
    scan: Scan, parquet: pq.ParquetFile, groups: Sequence[int], names: list[str]
) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Batches of rows, each with the number of its first one in the file."""
    start = 0
    for group in range(parquet.num_row_groups):
        told = parquet.metadata.row_group(group)
        if group in groups:
            at = start
            for batch in parquet.iter_batches(_at_once(scan, told), row_groups=[group], columns=names):
                yield batch, at
                at += len(batch)
        start += told.num_rows


def _at_once(scan: Scan, group: pq.RowGroupMetaData) -> int:
    """How many rows to read: what is wanted, unless they are large; many if most will not match."""
    one = max(1, int(group.total_byte_size) // max(1, int(group.num_rows)))
    wanted = _MANY if scan.wanted.where else max(_FEW, scan.wanted.rows + 1)
    return max(1, min(wanted, scan.wanted.size // one))


def _matching(scan: Scan, opened: pa.NativeFile, there: Schema) -> list[int]:
    """The groups of rows that may match, by their statistics."""
    ours = translate_column_names(bind(scan.schema, scan.where, case_sensitive=True), there)
    asked = expression_to_pyarrow(bind(there, ours, case_sensitive=True))
    fragment = ds.ParquetFileFormat().make_fragment(opened)
    return [group.id for part in fragment.split_by_row_group(asked) for group in part.row_groups]


def _projected(scan: Scan, read: Schema, batch: pa.RecordBatch) -> pa.Table:
    """The fields as the table has them now, whatever they were called and were when the file was written."""
    visitor = _Projection(read, downcast_ns_timestamp_to_us=True, allow_timestamp_tz_mismatch=True)
    found = visit_with_partner(scan.read, batch, visitor, ArrowAccessor(read))
    return pa.Table.from_batches([pa.RecordBatch.from_struct_array(found)])


class _Projection(ArrowProjectionVisitor):
    """PyIceberg makes empty ones of lists and maps of structures that are not there: here they are not there."""

    def list(self, list_type: ListType, list_array: pa.Array | None, value_array: pa.Array | None) -> pa.Array | None:
        return _as_empty(super().list(list_type, list_array, value_array), list_array)

    def map(
        self, map_type: MapType, map_array: pa.Array | None, key_result: pa.Array | None, value_result: pa.Array | None
    ) -> pa.Array | None:
        return _as_empty(super().map(map_type, map_array, key_result, value_result), map_array)


def _as_empty(made: pa.Array | None, there: pa.Array | None) -> pa.Array | None:
    if made is None or there is None or made.null_count == there.null_count:
        return made
    return pc.if_else(there.is_valid(), made, pa.scalar(None, made.type))


def _ids(schema: Schema) -> set[int]:
    return {each for each in schema.field_ids if not isinstance(schema.find_type(each), MapType | ListType)}


def _gone(scan: Scan, file: DataFile, deletes: Iterable[DataFile]) -> np.ndarray:
    """The numbers of the rows that were deleted."""
    found = [np.empty(0, np.int64)]
    for each in deletes:
        with scan.table.io.new_input(each.file_path).open() as opened:
            fragment = ds.ParquetFileFormat().make_fragment(opened)
            told = fragment.to_table(columns=["pos"], filter=pc.field("file_path") == file.file_path)
            found.append(told.column("pos").to_numpy())
    return np.unique(np.concatenate(found))


def _without(batch: pa.RecordBatch, start: int, gone: np.ndarray) -> pa.RecordBatch:
    first, last = np.searchsorted(gone, [start, start + len(batch)])
    if first == last:
        return batch
    kept = np.ones(len(batch), dtype=bool)
    kept[gone[first:last] - start] = False
    return batch.filter(pa.array(kept))
