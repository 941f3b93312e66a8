"""Collects the changes of tables from whole transactions into files, in memory that is bounded.

A file has a line for each change: its place in the log, whether the row is there afterwards, the key by which the row
was known when the file begins (its origin), and the values as text. Updates leave out large values that they have not
changed. An update that also changes the key would lose them, so the row keeps its origin, and takes them from there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lakehold.connectors.database.change_capture.arrays import array_to_json
from lakehold.connectors.database.change_capture.messages import (
    UNCHANGED,
    ColumnValue,
    RowChange,
    TableRelation,
    TableTruncation,
    TransactionEnd,
    TransactionStart,
    decode_message,
)
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import fold_name

MAX_HELD_BYTES = 32 * 1024 * 1024
"""The values that are held before they are written to the files."""
_ROW_BYTES = 300
"""What a change holds beside its values."""
PLACE, THERE, LIFE, KEPT = "n", "there", "life", "kept"

RowKey = tuple[ColumnValue, ...]
RowOrigin = tuple[RowKey, int]
"""The key of a row when the file begins, and the number of the row that has had that key since."""


@dataclass(slots=True)
class ChangeCounts:
    """The number of changes by what they do."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.inserted + self.updated + self.deleted


@dataclass(slots=True)
class ChangeFile:
    """The changes of one dataset, in a file."""

    path: Path
    stream: str
    """The table that is captured, as the source calls it."""
    table: int
    """Its id there, which it keeps when it gets another name."""
    columns: Sequence[str]
    """Those of the dataset."""
    keys: Sequence[str]
    since: int
    """Transactions that were committed before are in the dataset already."""
    arrays: Collection[str] = ()
    """The columns whose values are arrays."""
    counts: ChangeCounts = field(default_factory=ChangeCounts)
    truncated: bool = False
    """Whether rows from before the file are gone."""
    moves: bool = False
    """Whether a row gets another key, and keeps values that are not in the file."""
    incomplete: set[int] = field(default_factory=set)
    """The columns of which some values are left out."""
    _rows: list[tuple[object, ...]] = field(default_factory=list)
    _writer: pq.ParquetWriter | None = None
    _origins: dict[RowKey, RowOrigin] = field(default_factory=dict)
    """Those of rows that have got another key."""
    _lives: dict[RowKey, int] = field(default_factory=dict)

    @property
    def schema(self) -> pa.Schema:
        """The fields of the file."""
        fixed = [(PLACE, pa.int64()), (THERE, pa.bool_()), (LIFE, pa.int32()), (KEPT, pa.string())]
        texts = [*(f"k{n}" for n in range(len(self.keys))), *(f"c{n}" for n in range(len(self.columns)))]
        return pa.schema([*fixed, *((name, pa.string()) for name in texts)])

    @property
    def is_empty(self) -> bool:
        """Whether it has no change."""
        return not self.counts.total and not self.truncated

    def add(self, place: int, change: RowChange, columns: RelationColumns) -> None:
        """Add the change of a row."""
        if change.new is None:
            self.counts.deleted += 1
            self._remove(place, columns.old_key(change.old or ()))
            return
        new = change.new if change.old is None else columns.fill_unchanged(change.new, change.old)
        key = columns.key(new)
        before = key if change.old is None else columns.old_key(change.old)
        if change.is_insert:
            self.counts.inserted += 1
        else:
            self.counts.updated += 1
        if before != key:
            self._change_key(place, before, key, is_whole=UNCHANGED not in new)
        values = columns.values(new)
        if not self._origins and not self._lives and UNCHANGED not in values:
            # As most rows are: none has moved to another key, and nothing is left out.
            self._rows.append((place + 1, True, 0, None, *key, *values))
            return
        # Behind the removal of the old key, which may be the same value written otherwise.
        self._put(place + 1, key, values)

    def truncate(self) -> None:
        """Forget all rows so far."""
        self.close()
        self._writer, self.truncated, self.moves = None, True, False
        self._rows.clear()
        self._origins.clear()
        self._lives.clear()
        self.incomplete.clear()
        self.counts = ChangeCounts()

    def flush(self) -> None:
        """Write what is held to the file."""
        if not self._rows:
            return
        if self._writer is None:
            self._writer = pq.ParquetWriter(self.path, self.schema)
        columns = zip(*self._rows, strict=True)
        arrays = [pa.array(each, kind) for each, kind in zip(columns, self.schema.types, strict=True)]
        self._writer.write_table(pa.Table.from_arrays(arrays, schema=self.schema))
        self._rows.clear()

    def close(self) -> None:
        """Write what is held, and end the file."""
        self.flush()
        if self._writer is not None:
            self._writer.close()

    def has_file(self) -> bool:
        """Return whether there is a change in the file."""
        return self._writer is not None

    def _origin(self, key: RowKey) -> RowOrigin:
        return self._origins.get(key) or (key, self._lives.get(key, 0))

    def _remove(self, place: int, key: RowKey) -> None:
        origin, life = self._origin(key)
        self._origins.pop(key, None)
        self._rows.append((place, False, life, None, *origin, *(None for _ in self.columns)))

    def _change_key(self, place: int, before: RowKey, key: RowKey, *, is_whole: bool) -> None:
        if is_whole:
            self._remove(place, before)
            return
        self.moves = True
        origin = self._origin(before)
        if self._origins.pop(before, None) is None:
            # Whatever has this key from now on is another row.
            self._lives[before] = origin[1] + 1
        self._origins[key] = origin

    def _put(self, place: int, key: RowKey, values: Sequence[ColumnValue]) -> None:
        origin, life = self._origin(key)
        kept = None
        if UNCHANGED in values:
            left_out = [n for n, value in enumerate(values) if value is UNCHANGED]
            self.incomplete.update(left_out)
            kept = f",{','.join(map(str, left_out))},"
            values = [None if value is UNCHANGED else value for value in values]
        self._rows.append((place, True, life, kept, *origin, *values))


class RelationColumns:
    """The columns of a table in the log, as a dataset takes them."""

    def __init__(self, relation: TableRelation, file: ChangeFile) -> None:
        places = {fold_name(each.name): n for n, each in enumerate(relation.columns)}
        self._file, self._missing = file, next((key for key in file.keys if fold_name(key) not in places), None)
        self._keys = [places[fold_name(key)] for key in file.keys if fold_name(key) in places]
        self._names_rows = all(relation.columns[n].in_key for n in self._keys)
        self._places = [places.get(fold_name(name)) for name in file.columns]
        arrays = set(map(fold_name, file.arrays))
        self._are_same = not arrays and self._places == [*range(len(relation.columns))]
        self._arrays = [n for n, name in enumerate(file.columns) if fold_name(name) in arrays]

    def need_keys(self) -> None:
        """Refuse a table without a key column. What a dataset has already is not asked for it."""
        if self._missing is not None:
            message = f"{self._file.stream} has lost its key column {self._missing!r}."
            raise ConflictError(message, "Correct the keys of the dataset, prepare the task, then reload it.")

    def key(self, row: Sequence[ColumnValue]) -> RowKey:
        """Return the key of a row."""
        return tuple([row[n] for n in self._keys])

    def old_key(self, row: Sequence[ColumnValue]) -> RowKey:
        """Return the key of a row as it was, or refuse if the log named it by other columns at that time."""
        if not self._names_rows:
            keys = ", ".join(self._file.keys)
            message = f"For a while, the log did not name the rows of {self._file.stream} by {keys}."
            raise ConflictError(message, "Reload the dataset.", code="slot_lost")
        return self.key(row)

    def values(self, row: Sequence[ColumnValue]) -> Sequence[ColumnValue]:
        """Return the values of the dataset's columns; a column that the table does not have is empty."""
        if self._are_same:
            return row
        found: list[ColumnValue] = [None if n is None else row[n] for n in self._places]
        for n in self._arrays:
            value = found[n]
            if isinstance(value, bytes):
                found[n] = array_to_json(value)
        return found

    @staticmethod
    def fill_unchanged(new: Sequence[ColumnValue], old: Sequence[ColumnValue]) -> tuple[ColumnValue, ...]:
        """Return a row whose unchanged values are those of the old one, where that has them."""
        return tuple(
            [
                before if value is UNCHANGED and before is not None else value
                for value, before in zip(new, old, strict=True)
            ]
        )


class ChangeCollector:
    """Collects the changes of whole transactions into the files of datasets."""

    def __init__(self, files: Iterable[ChangeFile]) -> None:
        self._files: dict[int, list[ChangeFile]] = {}
        for file in files:
            self._files.setdefault(file.table, []).append(file)
        self._targets: dict[int, list[tuple[ChangeFile, RelationColumns]]] = {}
        self._commit_lsn = 0
        self._in_transaction: dict[int, list[tuple[ChangeFile, RelationColumns]]] = {}
        self._held = 0
        self.messages = 0
        """How many there were."""
        self.end = 0
        """The position behind the last transaction."""

    def feed(self, messages: Iterable[bytes]) -> None:
        """Collect all changes, and end the files."""
        for data in messages:
            self.messages += 1
            self._take(data)
        for file in self._all_files():
            file.close()

    def _all_files(self) -> Iterable[ChangeFile]:
        return (file for some in self._files.values() for file in some)

    def _take(self, data: bytes) -> None:
        match decode_message(data):
            case RowChange() as change:
                self._add(change, len(data))
            case TransactionStart(commit_lsn):
                self._commit_lsn = commit_lsn
                self._in_transaction.clear()
            case TransactionEnd(_, end_lsn):
                self.end = end_lsn
            case TableRelation() as relation:
                files = self._files.get(relation.id, ())
                self._targets[relation.id] = [(file, RelationColumns(relation, file)) for file in files]
                self._in_transaction.pop(relation.id, None)
            case TableTruncation(relations):
                for file, _ in (each for relation in relations for each in self._changed(relation)):
                    file.truncate()

    def _changed(self, relation: int) -> list[tuple[ChangeFile, RelationColumns]]:
        """Return the files that do not have this transaction yet."""
        found = self._in_transaction.get(relation)
        if found is None:
            found = [each for each in self._targets[relation] if each[0].since <= self._commit_lsn]
            self._in_transaction[relation] = found
        return found

    def _add(self, change: RowChange, size: int) -> None:
        for file, columns in self._changed(change.relation):
            columns.need_keys()
            file.add(2 * self.messages, change, columns)
            self._held += size + _ROW_BYTES
        if self._held > MAX_HELD_BYTES:
            for file in self._all_files():
                file.flush()
            self._held = 0
