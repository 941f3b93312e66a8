"""The score of one record with some candidates, and why: for calls that must answer at once."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from lakehold.workspaces.products.matching.comparisons import Comparison, levels_query
from lakehold.workspaces.products.matching.model import MatchModel

Record = Mapping[str, str | None]
Frequencies = Mapping[tuple[str, str | None], float]
"""The share of records with a value, by column and value; that of rare values is at None."""


@dataclass(frozen=True, slots=True)
class MatchReason:
    """The level of one comparison, and how much it speaks for (or against) one entity, in bits."""

    comparison: str
    level: str
    weight: float


@dataclass(frozen=True, slots=True)
class RecordScore:
    """The probability that a candidate is of the same entity, and why."""

    probability: float
    weight: float
    reasons: tuple[MatchReason, ...]


class RecordScorer:
    """Scores records by a trained model, on a small database in memory that is kept; safe for several threads."""

    def __init__(self, model: MatchModel, frequencies: Frequencies) -> None:
        self._model, self._comparisons = model, model.comparisons
        self._frequencies = frequencies
        self._columns = sorted({column for each in self._comparisons for column in each.columns})
        self._query = levels_query(
            self._comparisons, "(select 0 as id_l, id as id_r from candidates)", table="everyone"
        )
        self._query = self._query.replace("join everyone l on", "join sought l on")
        self._connection = duckdb.connect(config={"threads": 1})
        self._lock = threading.Lock()

    @classmethod
    def read(cls, model: str, frequencies: str) -> RecordScorer:
        """Read a scorer from the files that a match run wrote."""
        with duckdb.connect() as connection:
            rows = connection.execute("select name, value, frequency from read_parquet(?)", [frequencies]).fetchall()
        return cls(MatchModel.from_json(model), {(name, value): frequency for name, value, frequency in rows})

    def score(self, record: Record, candidates: Sequence[Record]) -> list[RecordScore]:
        """Return the score of each candidate, in their order."""
        if not candidates or not self._comparisons:
            return [RecordScore(0.0, -math.inf, ()) for _ in candidates]
        with self._lock:
            self._connection.register("sought", self._table([record]))
            table = self._table(candidates)
            self._connection.register("candidates", table)
            self._connection.register("everyone", table)
            rows = self._connection.execute(self._query).fetchall()
        levels = {row[1]: row[2:] for row in rows}
        return [self._score(record, candidate, levels[place]) for place, candidate in enumerate(candidates)]

    def _table(self, records: Sequence[Record]) -> pa.Table:
        columns = {name: pa.array([each.get(name) or None for each in records], pa.string()) for name in self._columns}
        return pa.table({"id": pa.array(range(len(records)), pa.int64()), **columns})

    def _score(self, record: Record, candidate: Record, levels: Sequence[int]) -> RecordScore:
        model, weight, reasons = self._model, math.log2(self._model.prior / (1 - self._model.prior)), []
        rivals = {rival: math.log2(prior) for rival, prior in model.rival_priors.items()}
        for place, (comparison, level) in enumerate(zip(self._comparisons, levels, strict=True)):
            if level < 0:
                continue
            rarity = self._rarity(comparison, level, record, candidate, model.u[place][level])
            bits = math.log2(model.m[place][level] / model.u[place][level]) + rarity
            weight += bits
            reasons.append(MatchReason(comparison.name, comparison.levels[level].label, round(bits, 2)))
            for rival in rivals.keys() & comparison.rivals():
                rivals[rival] += math.log2(model.rivals[rival][place][level] / model.u[place][level]) + rarity
        weight -= math.log2(1 + sum(2.0 ** min(each, 500.0) for each in rivals.values()))
        return RecordScore(1 / (1 + 2.0 ** -max(weight, -500.0)), weight, tuple(reasons))

    def _rarity(self, comparison: Comparison, level: int, record: Record, candidate: Record, u: float) -> float:
        column = comparison.levels[level].frequency
        if not column:
            return 0.0
        known, rare = self._frequencies, self._frequencies.get((column, None), 1e-6)
        shares = (known.get((column, each.get(column)), rare) for each in (record, candidate))
        return math.log2(u) - math.log2(max(shares))
