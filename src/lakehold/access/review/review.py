"""The result of a review: who may do what with what, as DataFrames that nobody has to collect."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from lakehold.access.decide.subjects import within
from lakehold.access.facts.view import View
from lakehold.access.model.expressions import Expression
from lakehold.access.model.policy import Policy
from lakehold.access.review.facts import Facts
from lakehold.access.review.passes import SMALL, Passes
from lakehold.access.review.workers import Counts, Pairs, Question, Rows
from lakehold.kit.errors import InvalidInputError


class Review:
    """Every member × resource × action at the moment of the view: of a tenant, of some kinds of it, or of what is
    inside one workspace.
    """

    def __init__(
        self,
        spark: SparkSession,
        view: View,
        kinds: Iterable[str] | None = None,
        *,
        inside: str | None = None,
        small: int = SMALL,
    ) -> None:
        if not view.members:
            raise InvalidInputError("A tenant without members has nothing to review.", "Add a member first.")
        self._policy = view.policy
        facts = Facts(view)
        self._layout = facts.layout
        wanted = view.policy.kinds if kinds is None else [view.policy.kind(kind).id for kind in kinds]
        resources = {kind: _inside(view, facts.ids(kind), inside) for kind in wanted}
        asked = {kind: _asked(view.policy, kind) for kind, ids in resources.items() if ids and self.actions(kind)}
        # Everything is handed to Spark here, so that the view may move on afterwards.
        self._members = pa.array([view.uid(member) for member in view.members], pa.string())
        self._passes = Passes(_planned(spark), facts, resources, asked, small)
        self._questions = {
            kind: [
                Question(operation, bits, [action for n, action in enumerate(self.actions(kind)) if bits >> n & 1])
                for operation, bits in zip(self._passes.operations[kind], of_kind.values(), strict=True)
            ]
            for kind, of_kind in asked.items()
        }

    def actions(self, kind: str) -> Sequence[str]:
        """The actions of a kind. The n-th is the n-th lowest bit of `actions` in `pairs`."""
        return self._policy.kind(kind).schema.actions

    def pairs(self) -> DataFrame:
        """One row for each member and resource with anything allowed: `member` and `resource` as numbers, `kind`,
        and `actions` as bits.
        """
        schema = "member int, resource bigint, kind string, actions bigint"
        return self._passes.over(Pairs(self._layout, self._questions), schema)

    def rows(self) -> DataFrame:
        """One row for each member, resource and action, by their public ids."""
        schema = "member string, resource string, kind string, action string"
        return self._passes.over(Rows(self._layout, self._questions, self._members), schema)

    def counts(self) -> DataFrame:
        """How many pairs each action of each kind is allowed for: `kind`, `action`, `pairs`."""
        counted = self._passes.over(Counts(self._layout, self._questions), "kind string, action string, pairs bigint")
        return counted.groupBy("kind", "action").agg(F.sum("pairs").alias("pairs"))


def _asked(policy: Policy, kind: str) -> dict[Expression, int]:
    """What is asked of a kind, each once, with the actions that it answers for as bits."""
    asked: dict[Expression, int] = {}
    for n, action in enumerate(policy.kinds[kind].schema.actions):
        expression = policy.relations[kind, action]
        asked[expression] = asked.get(expression, 0) | 1 << n
    return asked


def _inside(view: View, ids: list[int], inside: str | None) -> list[int]:
    if inside is None:
        return ids
    around = frozenset({view.uid(view.resource(inside))})
    return [number for number in ids if within(view, number, around)]


def _planned(spark: SparkSession) -> SparkSession:
    """The same Spark with plans that stay as they are made: planning anew after each of some small stages would take
    longer than all of them. Nothing is sent to all by way of the driver. A piece is as much as a worker has room for.
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
