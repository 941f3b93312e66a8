"""The values of entities, each chosen among those of their records by the rule of its attribute, over Arrow columns.

A rule gives each record a rank; the value is that of the best record which has one. Records of the same rank are told
apart in the same way for all rules: the most recent one, then the one of the source listed first, then the smallest id.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakehold.workspaces.products.settings import ConsolidationRule

Numbers = np.ndarray[Any, np.dtype[np.int64]]
FLAG = "entity__flag"
"""The column with the flag of a record's entity: no attribute can have this name."""
COMPUTED = "sql"
"""The origin of a value that no record has, such as a sum."""
_NONE = np.iinfo(np.int64).max


@dataclass(frozen=True)
class EntityRecords:
    """Records in the order of entities: `entity`, `record`, `source`, `recency`, `entity__flag` and the attributes."""

    rows: pa.Table
    sources: Sequence[str]
    """The sources, in their order."""
    attributes: Sequence[str]

    @cached_property
    def starts(self) -> Numbers:
        """The first row of each entity."""
        entities = self.column("entity")
        changes = pc.not_equal(entities.slice(1), entities.slice(0, max(len(entities) - 1, 0)))
        return np.concatenate([[0], np.flatnonzero(changes.to_numpy(zero_copy_only=False)) + 1])

    @cached_property
    def entity_numbers(self) -> Numbers:
        """The number of each row's entity."""
        return np.repeat(np.arange(len(self.starts)), np.diff(self.starts, append=self.rows.num_rows))

    @cached_property
    def order(self) -> Numbers:
        """The rows from the best to the worst, as far as rules do not tell them apart."""
        recency = _dense_rank(self.column("recency"))
        record = _dense_rank(self.column("record"))
        return np.lexsort((record, self.source_numbers, -recency))

    @cached_property
    def preference(self) -> Numbers:
        """The place of each row in that order."""
        places = np.empty(self.rows.num_rows, np.int64)
        places[self.order] = np.arange(self.rows.num_rows)
        return places

    @cached_property
    def source_numbers(self) -> Numbers:
        """The place of each row's source; unknown ones are last."""
        found = pc.index_in(self.column("source"), value_set=pa.array(self.sources, pa.string()))
        return _numbers(found.fill_null(len(self.sources)))

    @cached_property
    def missing(self) -> Numbers:
        """The number of attributes without a value of each row."""
        counts = np.zeros(self.rows.num_rows, np.int64)
        for name in self.attributes:
            counts += self.column(name).is_null().to_numpy(zero_copy_only=False)
        return counts

    def column(self, name: str) -> pa.Array:
        """Return a column in one piece."""
        found = self.rows.column(name)
        return found.chunk(0) if found.num_chunks == 1 else pa.concat_arrays(found.chunks or [_empty(found.type)])

    def best_rows(self, attribute: str, rule: ConsolidationRule, expected: str = "") -> Numbers:
        """Return for each entity the row that its value is from, or -1; `expected` is the column of computed values."""
        values = self.column(attribute)
        usable = (
            values.is_valid() if not expected else pc.equal(values, self.column(expected)).fill_null(fill_value=False)
        )
        scores = self._ranks(values, rule) * self.rows.num_rows + self.preference
        scores = np.where(usable.to_numpy(zero_copy_only=False), scores, _NONE)
        best = np.minimum.reduceat(scores, self.starts)
        return np.where(best == _NONE, -1, self.order[best % self.rows.num_rows])

    def _ranks(self, values: pa.Array, rule: ConsolidationRule) -> Numbers:
        """Return how good a row is by the rule; less is better."""
        match rule:
            case ConsolidationRule.MOST_FREQUENT:
                return self._rarity(values)
            case ConsolidationRule.SOURCE_ORDER:
                return self.source_numbers
            case ConsolidationRule.LONGEST:
                return -_numbers(pc.utf8_length(values).fill_null(0))
            case ConsolidationRule.MOST_COMPLETE:
                return self.missing
            case ConsolidationRule.MOST_RECENT | ConsolidationRule.SQL:
                return np.zeros(self.rows.num_rows, np.int64)

    def _rarity(self, values: pa.Array) -> Numbers:
        """Return the negative number of records of its entity that have the row's value."""
        codes = values.dictionary_encode(null_encoding="encode")
        keys = self.entity_numbers * len(codes.dictionary) + _numbers(codes.indices)
        _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
        found: Numbers = -counts[inverse]
        return found


def choose_values(
    records: EntityRecords, rules: Mapping[str, ConsolidationRule], expected: Mapping[str, str]
) -> pa.Table:
    """Return one row for each entity: `entity`, `records`, `flags`, the attributes and `origins`.

    Of an attribute with the rule `sql`, `expected` names the column with the value that was computed.
    """
    first = pa.array(records.starts)
    rows = {name: records.best_rows(name, rule, expected.get(name, "")) for name, rule in rules.items()}
    values = {
        name: records.column(expected[name]).take(first)
        if name in expected
        else _take(records.column(name), rows[name])
        for name in rules
    }
    return pa.table(
        {
            "entity": records.column("entity").take(first),
            "records": pa.array(np.diff(records.starts, append=records.rows.num_rows), pa.int32()),
            "flags": _to_lists(records.column(FLAG).take(first)),
            **values,
            "origins": _to_origins(records.column("record"), rows, values),
        }
    )


def _to_origins(record: pa.Array, rows: Mapping[str, Numbers], values: Mapping[str, pa.Array]) -> pa.Array:
    """Return by attribute the record that the value is from."""
    names = pa.array(list(rows), pa.string())
    places = np.stack(list(rows.values()), axis=1)
    has_value = np.stack([value.is_valid().to_numpy(zero_copy_only=False) for value in values.values()], axis=1)
    offsets = np.concatenate([[0], np.cumsum(has_value.sum(axis=1))])
    _, attributes = np.nonzero(has_value)
    items = _take(record, places[has_value]).fill_null(COMPUTED)
    return pa.MapArray.from_arrays(pa.array(offsets, pa.int32()), names.take(pa.array(attributes)), items)


def _to_lists(flags: pa.Array) -> pa.Array:
    """Return lists of the flags that there are."""
    offsets = np.concatenate([[0], np.cumsum(flags.is_valid().to_numpy(zero_copy_only=False))])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), flags.drop_null())


def _take(values: pa.Array, rows: Numbers) -> pa.Array:
    """Return the values of these rows; that of row -1 is NULL."""
    return values.take(pa.array(rows, mask=rows < 0))


def _dense_rank(values: pa.Array) -> Numbers:
    """Return the ranks of texts, from 1; NULL has the least."""
    return _numbers(pc.rank(values.fill_null(""), "ascending", tiebreaker="dense"))


def _numbers(values: pa.Array) -> Numbers:
    found: Numbers = values.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return found


def _empty(kind: pa.DataType) -> pa.Array:
    return pa.array([], kind)
