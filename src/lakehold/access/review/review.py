"""The access review: who may do what with what, as lazy DataFrames; and Spark's passes over the
facts, one for each level of what kinds ask of each other, and one for the result.

All facts are handed over once, in pieces: some resources of one kind are one row, which only workers open. So Spark
moves a handful of rows, and starts its workers for a handful of tasks.
"""

import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from lakehold.access.decisions.principal import lies_within
from lakehold.access.facts.view import FactView
from lakehold.access.model.expressions import Expression
from lakehold.access.model.policy import Policy
from lakehold.access.review.compiler import AnswerJoin, EvaluationPlan, JoinPath, OperationCompiler
from lakehold.access.review.fact_columns import KindColumns, ReviewFacts
from lakehold.access.review.operations import FlagOperation, IntersectionOperation, Operation
from lakehold.access.review.workers import (
    AnswerRequest,
    AnswerWorker,
    Batches,
    CountWorker,
    PairWorker,
    ReviewQuestion,
    RowWorker,
)
from lakehold.kit.errors import InvalidInputError

SMALL_KIND = 10_000
"""Conditions at the end of an edge on kinds with up to this many resources are evaluated first, and sent along."""
_ROOM = 1 << 20
"""But not if its sets have more words than this: eight megabytes for each question."""

_ANSWERS = "piece int, join int, row int, sets binary"
_LISTED = "array<struct<join: int, row: int, sets: binary>>"


class ReviewPasses:
    """Compiles what is requested of resources, and hands it to Spark together with all facts that it takes."""

    def __init__(
        self,
        spark: SparkSession,
        facts: ReviewFacts,
        resources: Mapping[str, Sequence[int]],
        requested: Mapping[str, Collection[Expression]],
        small: int,
    ) -> None:
        self._spark = spark
        self._layout = facts.layout
        self._joins: dict[JoinPath, AnswerJoin] = {}
        plan = EvaluationPlan(
            facts.view.policy,
            facts.count,
            lambda kind: facts.count(kind) <= small and facts.count(kind) * facts.layout.words <= _ROOM,
        )
        asked = plan.spark_questions(
            (kind, expression) for kind, of_kind in requested.items() for expression in of_kind
        )
        whole = {kind for kind, _ in asked}
        self._columns = {
            kind: KindColumns(facts, kind, facts.ids(kind) if kind in whole else resources[kind])
            for kind in dict.fromkeys([*requested, *whole])
        }
        compilers = {
            kind: OperationCompiler(facts, plan, kind, sheet, self._joins) for kind, sheet in self._columns.items()
        }
        self._inner = {(kind, part): compilers[kind].operation(part) for kind, part in asked}
        self.operations: dict[str, list[Operation]] = {
            kind: [self._restrict(kind, resources[kind], compilers[kind].operation(part)) for part in of_kind]
            for kind, of_kind in requested.items()
        }
        asks = {way: self._join_column(way) for way in self._joins}
        self._first, self._pieces = self._to_pieces()
        self._answers: list[DataFrame] = []
        for level in sorted({way.level for way in asks}):
            self._evaluate_level({way: column for way, column in asks.items() if way.level == level})

    def map_pieces(self, worker: Callable[[Batches], Batches], schema: str) -> DataFrame:
        """Apply a worker function to all pieces that are requested."""
        return self._read(self.operations).mapInArrow(worker, schema)

    def _restrict(self, kind: str, ids: Sequence[int], operation: Operation) -> Operation:
        """Restrict the operation to these resources; others may be there because others depend on them."""
        sheet = self._columns[kind]
        if len(ids) == len(sheet.ids):
            return operation
        return IntersectionOperation((operation, FlagOperation(sheet.membership(ids))))

    def _join_column(self, way: JoinPath) -> str:
        return self._columns[way.end].asking_rows(way.step, way.source, self._columns[way.source].rows)

    def _to_pieces(self) -> tuple[dict[str, int], DataFrame]:
        """Return the first piece of each kind, and all pieces."""
        first: dict[str, int] = {}
        pieces: list[tuple[int, str, bytes]] = []
        for kind, sheet in self._columns.items():
            first[kind] = len(pieces)
            pieces += [(len(pieces) + n, kind, piece) for n, piece in enumerate(sheet.to_batches(self._layout.rows))]
        # Dealt out, so that those of a large kind do not all go to one task.
        tasks = self._spark.sparkContext.defaultParallelism
        dealt = [piece for n in range(tasks) for piece in pieces[n::tasks]]
        table = {
            "piece": pa.array([number for number, _, _ in dealt], pa.int32()),
            "kind": pa.array([kind for _, kind, _ in dealt], pa.string()),
            "columns": pa.array([piece for _, _, piece in dealt], pa.binary()),
        }
        return first, self._spark.createDataFrame(pa.table(table))

    def _evaluate_level(self, ways: Mapping[JoinPath, str]) -> None:
        """Evaluate a level, once for all that take from it."""
        asks: dict[str, list[AnswerRequest]] = {}
        for way, column in ways.items():
            join = self._joins[way]
            operations = [self._inner[way.end, part] for part in join.expressions]
            asks.setdefault(way.end, []).append(
                AnswerRequest(join.answers.join, column, self._first[way.source], operations)
            )
        answers = self._read(asks).mapInArrow(AnswerWorker(self._layout, asks), _ANSWERS)
        self._answers.append(answers.localCheckpoint())

    def _read(self, kinds: Iterable[str]) -> DataFrame:
        """Return the pieces of kinds, with the answers that there are for them."""
        requested_kinds = list(kinds)
        joins = {way.source: join for way, join in self._joins.items() if way.source in requested_kinds}
        alone = [kind for kind in requested_kinds if not self._answers or kind not in joins]
        found = self._pieces.where(F.col("kind").isin(alone)).withColumn("answers", F.lit(None).cast(_LISTED))
        if len(alone) == len(requested_kinds):
            return found
        numbers = [join.answers.join for way, join in self._joins.items() if way.source in joins]
        listed = (
            reduce(DataFrame.unionByName, self._answers)
            .where(F.col("join").isin(numbers))
            .groupBy("piece")
            .agg(F.collect_list(F.struct("join", "row", "sets")).alias("answers"))
        )
        asking = self._pieces.where(F.col("kind").isin(list(joins))).join(listed, "piece", "left")
        return found.unionByName(asking)


class AccessReview:
    """Every member × resource × action at the moment of the view, of a tenant or a part of it."""

    def __init__(
        self,
        spark: SparkSession,
        view: FactView,
        kinds: Iterable[str] | None = None,
        *,
        inside: str | None = None,
        small: int = SMALL_KIND,
    ) -> None:
        if not view.members:
            raise InvalidInputError("A tenant without members has nothing to review.", "Add a member first.")
        self._policy = view.policy
        facts = ReviewFacts(view)
        self._layout = facts.layout
        reviewed_kinds = view.policy.kinds if kinds is None else [view.policy.kind(kind).id for kind in kinds]
        resources = {kind: _ids_inside(view, facts.ids(kind), inside) for kind in reviewed_kinds}
        asked = {
            kind: _expressions_of(view.policy, kind) for kind, ids in resources.items() if ids and self.actions(kind)
        }
        # Everything is handed to Spark here, so that the view may move on afterwards.
        self._members = pa.array([view.uid(member) for member in view.members], pa.string())
        self._passes = ReviewPasses(_configured_session(spark), facts, resources, asked, small)
        self._questions = {
            kind: [
                ReviewQuestion(
                    operation, bits, [action for n, action in enumerate(self.actions(kind)) if bits >> n & 1]
                )
                for operation, bits in zip(self._passes.operations[kind], of_kind.values(), strict=True)
            ]
            for kind, of_kind in asked.items()
        }

    def actions(self, kind: str) -> Sequence[str]:
        """Return the actions of a kind. The n-th is the n-th lowest bit of `actions` in `pairs`."""
        return self._policy.kind(kind).schema.actions

    def pairs(self) -> DataFrame:
        """Return one row for each member and resource with anything allowed: `member` and `resource` as numbers,
        `kind`, and `actions` as bits.
        """
        schema = "member int, resource bigint, kind string, actions bigint"
        return self._passes.map_pieces(PairWorker(self._layout, self._questions), schema)

    def rows(self) -> DataFrame:
        """Return one row for each member, resource and action, by their public ids."""
        schema = "member string, resource string, kind string, action string"
        return self._passes.map_pieces(RowWorker(self._layout, self._questions, self._members), schema)

    def counts(self) -> DataFrame:
        """Return how many pairs each action of each kind is allowed for: `kind`, `action`, `pairs`."""
        counted = self._passes.map_pieces(
            CountWorker(self._layout, self._questions), "kind string, action string, pairs bigint"
        )
        return counted.groupBy("kind", "action").agg(F.sum("pairs").alias("pairs"))


def _expressions_of(policy: Policy, kind: str) -> dict[Expression, int]:
    """Return the expressions of a kind's actions, each once, with the actions that it decides as bits."""
    asked: dict[Expression, int] = {}
    for n, action in enumerate(policy.kinds[kind].schema.actions):
        expression = policy.relations[kind, action]
        asked[expression] = asked.get(expression, 0) | 1 << n
    return asked


def _ids_inside(view: FactView, ids: list[int], inside: str | None) -> list[int]:
    if inside is None:
        return ids
    around = frozenset({view.uid(view.resource(inside))})
    return [number for number in ids if lies_within(view, number, around)]


def _configured_session(spark: SparkSession) -> SparkSession:
    """Return a Spark session with static plans: adaptive planning after each of some small stages would take longer
    than all of them. Nothing is broadcast by way of the driver. A batch is one piece, as much as a worker has room for.
    """
    session, context = spark.newSession(), spark.sparkContext
    session.conf.set("spark.sql.adaptive.enabled", "false")
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    session.conf.set("spark.sql.shuffle.partitions", str(context.defaultParallelism))
    session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "1")
    if str(context.master).startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        # Workers on this machine are of the Python that is running, not of the first that is found.
        context.pythonExec = sys.executable
    return session
