"""The patterns of agreement that a model is trained on, counted over samples of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lakehold.workspaces.products.matching.comparison_library import build_comparisons
from lakehold.workspaces.products.matching.comparisons import MatchedAttribute, levels_query
from lakehold.workspaces.products.matching.training import PatternCounts, TrainingData

if TYPE_CHECKING:
    import duckdb

RANDOM_PAIRS = 400_000
BLOCKED_PAIRS = 1_000_000


class PatternCounter:
    """Counts patterns on a connection that has the tables `prepared` and `blocked`."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, attributes: Sequence[MatchedAttribute], seed: int
    ) -> None:
        self.comparisons = build_comparisons(attributes)
        self._connection, self._seed = connection, seed

    def training_data(self, same: Sequence[tuple[str, str]], different: Sequence[tuple[str, str]]) -> TrainingData:
        """Count the patterns of random pairs, of blocked pairs and of labelled ones."""
        records, blocked = self._number("prepared"), self._number("blocked")
        return TrainingData(
            random=self._count(self._random(records)),
            blocked=self._count(self._sample(blocked)),
            all_pairs=records * (records - 1) / 2,
            blocked_pairs=blocked,
            same=self._labels(same),
            different=self._labels(different),
        )

    def _random(self, records: int) -> str:
        """Choose pairs by a hash of their number, so that the same records always give the same pairs."""
        count = min(RANDOM_PAIRS, records * (records - 1) // 2)
        left, right = (f"hash({place}, n) % {max(records, 1)}" for place in (self._seed * 2, self._seed * 2 + 1))
        return (
            f"select least(a, b)::bigint as join_key_l, greatest(a, b)::bigint as join_key_r, '0' as match_key from"
            f" (select {left} as a, {right} as b from range({count}) t(n)) where a <> b"
        )

    def _sample(self, blocked: int) -> str:
        share = int(1_000_000 * min(1.0, BLOCKED_PAIRS / max(blocked, 1)))
        return f"from blocked where hash(join_key_l, join_key_r, {self._seed}) % 1000000 < {share}"

    def _labels(self, pairs: Sequence[tuple[str, str]]) -> PatternCounts | None:
        if not pairs:
            return None
        run = self._connection.execute
        run("create or replace temp table labels (a varchar, b varchar)")
        self._connection.executemany("insert into labels values (?, ?)", [list(pair) for pair in pairs])
        return self._count(
            "with ids as (select k.record as original, p.id from keyed k"
            " join equal_records e using (k) join prepared p on p.record = e.record)"
            " select least(l.id, r.id) as join_key_l, greatest(l.id, r.id) as join_key_r, '0' as match_key from labels"
            " join ids l on l.original = a join ids r on r.original = b where l.id <> r.id"
        )

    def _count(self, query: str) -> PatternCounts:
        self._connection.execute(f"create or replace temp table pattern_pairs as {query}")
        names = [f"level_{each.name}" for each in self.comparisons]
        if not names or not self._number("pattern_pairs"):
            return PatternCounts(np.zeros((0, len(names)), np.int64), np.zeros(0))
        levels = levels_query(self.comparisons, "(select join_key_l as id_l, join_key_r as id_r from pattern_pairs)")
        columns = ", ".join(names)
        counted = f"select {columns}, count(*) from ({levels}) group by all order by all"
        *places, counts = self._connection.execute(counted).fetchnumpy().values()
        return PatternCounts(np.stack(places, axis=1).astype(np.int64), np.asarray(counts, dtype=np.float64))

    def _number(self, table: str) -> int:
        rows = self._connection.execute(f"select count(*) from {table}").fetchall()
        return int(rows[0][0] or 0)
