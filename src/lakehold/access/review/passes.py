"""Spark's passes over the facts: one for each level of what kinds ask of each other, and one for the result.

All facts are handed over once, in pieces: some resources of one kind are one row, which only workers open. So Spark
moves a handful of rows, and starts its workers for a handful of tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from lakehold.access.model.expressions import Expression
from lakehold.access.review.compiling import Compiler, Join, Way
from lakehold.access.review.facts import Facts
from lakehold.access.review.operations import Flagged, Meet, Operation
from lakehold.access.review.reaches import Work
from lakehold.access.review.sheets import Sheet
from lakehold.access.review.workers import Ask, Asked, Batches

SMALL = 10_000
"""What a kind with up to this many resources is asked at the end of an edge is worked out before, and sent along."""
_ROOM = 1 << 20
"""But not if its sets have more words than this: eight megabytes for each question."""

_ANSWERS = "piece int, join int, row int, sets binary"
_LISTED = "array<struct<join: int, row: int, sets: binary>>"


class Passes:
    """What is wanted of resources, compiled and handed to Spark together with all that it takes."""

    def __init__(
        self,
        spark: SparkSession,
        facts: Facts,
        resources: Mapping[str, Sequence[int]],
        wanted: Mapping[str, Collection[Expression]],
        small: int,
    ) -> None:
        self._spark = spark
        self._layout = facts.layout
        self._joins: dict[Way, Join] = {}
        ctx = Work(
            facts.view.policy,
            facts.count,
            lambda kind: facts.count(kind) <= small and facts.count(kind) * facts.layout.words <= _ROOM,
        )
        asked = ctx.asked((kind, expression) for kind, of_kind in wanted.items() for expression in of_kind)
        whole = {kind for kind, _ in asked}
        self._sheets = {
            kind: Sheet(facts, kind, facts.ids(kind) if kind in whole else resources[kind])
            for kind in dict.fromkeys([*wanted, *whole])
        }
        compilers = {kind: Compiler(facts, ctx, kind, sheet, self._joins) for kind, sheet in self._sheets.items()}
        self._inner = {(kind, part): compilers[kind].operation(part) for kind, part in asked}
        self.operations: dict[str, list[Operation]] = {
            kind: [self._only(kind, resources[kind], compilers[kind].operation(part)) for part in of_kind]
            for kind, of_kind in wanted.items()
        }
        asks = {way: self._column(way) for way in self._joins}
        self._first, self._pieces = self._cut()
        self._answers: list[DataFrame] = []
        for level in sorted({way.level for way in asks}):
            self._answer({way: column for way, column in asks.items() if way.level == level})

    def over(self, worker: Callable[[Batches], Batches], schema: str) -> DataFrame:
        """What a worker makes of all that is wanted."""
        return self._read(self.operations).mapInArrow(worker, schema)

    def _only(self, kind: str, ids: Sequence[int], operation: Operation) -> Operation:
        """The operation for these resources alone; others may be there to be asked by others."""
        sheet = self._sheets[kind]
        return operation if len(ids) == len(sheet.ids) else Meet((operation, Flagged(sheet.among(ids))))

    def _column(self, way: Way) -> str:
        return self._sheets[way.end].askers(way.step, way.asker, self._sheets[way.asker].rows)

    def _cut(self) -> tuple[dict[str, int], DataFrame]:
        """The first piece of each kind, and all pieces."""
        first: dict[str, int] = {}
        pieces: list[tuple[int, str, bytes]] = []
        for kind, sheet in self._sheets.items():
            first[kind] = len(pieces)
            pieces += [(len(pieces) + n, kind, piece) for n, piece in enumerate(sheet.cut(self._layout.rows))]
        # Dealt out, so that those of a large kind do not all go to one task.
        tasks = self._spark.sparkContext.defaultParallelism
        dealt = [piece for n in range(tasks) for piece in pieces[n::tasks]]
        table = {
            "piece": pa.array([number for number, _, _ in dealt], pa.int32()),
            "kind": pa.array([kind for _, kind, _ in dealt], pa.string()),
            "columns": pa.array([piece for _, _, piece in dealt], pa.binary()),
        }
        return first, self._spark.createDataFrame(pa.table(table))

    def _answer(self, ways: Mapping[Way, str]) -> None:
        """Work out a level, once for all that take from it."""
        asks: dict[str, list[Ask]] = {}
        for way, column in ways.items():
            join = self._joins[way]
            operations = [self._inner[way.end, part] for part in join.asked]
            asks.setdefault(way.end, []).append(Ask(join.answers.join, column, self._first[way.asker], operations))
        answers = self._read(asks).mapInArrow(Asked(self._layout, asks), _ANSWERS)
        self._answers.append(answers.localCheckpoint())

    def _read(self, kinds: Iterable[str]) -> DataFrame:
        """The pieces of kinds, with the answers that there are for them."""
        wanted = list(kinds)
        joins = {way.asker: join for way, join in self._joins.items() if way.asker in wanted}
        alone = [kind for kind in wanted if not self._answers or kind not in joins]
        found = self._pieces.where(F.col("kind").isin(alone)).withColumn("answers", F.lit(None).cast(_LISTED))
        if len(alone) == len(wanted):
            return found
        numbers = [join.answers.join for way, join in self._joins.items() if way.asker in joins]
        listed = (
            reduce(DataFrame.unionByName, self._answers)
            .where(F.col("join").isin(numbers))
            .groupBy("piece")
            .agg(F.collect_list(F.struct("join", "row", "sets")).alias("answers"))
        )
        asking = self._pieces.where(F.col("kind").isin(list(joins))).join(listed, "piece", "left")
        return found.unionByName(asking)
