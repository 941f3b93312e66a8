"""The result of a review: who may do what with what, as DataFrames that nobody has to collect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from lakehold.access.facts.view import View
from lakehold.access.model.expressions import Expression
from lakehold.access.model.policy import Policy
from lakehold.access.review import columns as c
from lakehold.access.review.frames import SMALL, Frames
from lakehold.access.review.shipped import Shipped
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
        self._facts = Shipped(_planned(spark), view)
        self._frames = Frames(view.policy, self._facts, small)
        wanted = view.policy.kinds if kinds is None else [view.policy.kind(kind).id for kind in kinds]
        # Everything is handed to Spark here, so that the view may move on afterwards.
        # Kinds with many resources come first: what they are asked is kept, and serves those that ask for it.
        by_size = sorted(wanted, key=lambda kind: -self._facts.count(kind))
        self._asked = {
            kind: _asked(view.policy, kind) for kind in by_size if self._facts.count(kind) and self.actions(kind)
        }
        self._members = self._facts.member_names()
        self._resources = self._facts.names(self._asked, inside)
        self._framed = {kind: self._frames.reviewed(kind, tuple(asked)) for kind, asked in self._asked.items()}
        if inside is not None:
            only = self._resources.select("id")
            self._framed = {kind: frame.join(only, "id", "left_semi") for kind, frame in self._framed.items()}

    def actions(self, kind: str) -> Sequence[str]:
        """The actions of a kind. The n-th is the n-th lowest bit of `actions` in `pairs`."""
        return self._policy.kind(kind).schema.actions

    def pairs(self) -> DataFrame:
        """One row for each member and resource with anything allowed: `member` and `resource` as numbers, `kind`,
        and `actions` as bits.
        """
        return reduce(DataFrame.unionByName, map(self._pairs, self._asked))

    def rows(self) -> DataFrame:
        """One row for each member, resource and action, by their public ids."""
        found = self.pairs()
        members = self._members.select(F.col("number").alias("member"), F.col("uid").alias("who"))
        resources = self._resources.select(F.col("id").alias("resource"), F.col("uid").alias("what"))
        named = found.join(F.broadcast(members), "member").join(resources, "resource")
        bits = self._facts.bits({kind: self.actions(kind) for kind in self._asked})
        each = named.join(F.broadcast(bits), "kind").where(F.col("actions").bitwiseAND(F.col("bit")) != 0)
        return each.select(F.col("who").alias("member"), F.col("what").alias("resource"), "kind", "action")

    def counts(self) -> DataFrame:
        """How many pairs each action of each kind is allowed for: `kind`, `action`, `pairs`."""
        counted = reduce(DataFrame.unionByName, map(self._counts, self._asked))
        return counted.groupBy("kind", "action").agg(F.sum("pairs").alias("pairs"))

    def _counts(self, kind: str) -> DataFrame:
        asked, frame = self._asked[kind], self._framed[kind]
        sums = [F.sum(c.size(self._facts.layout.columns(f"x{n}"))).alias(f"n{n}") for n in range(len(asked))]
        lines = [
            F.struct(F.lit(action).alias("action"), F.col(f"n{n}").alias("pairs"))
            for n, bits in enumerate(asked.values())
            for position, action in enumerate(self.actions(kind))
            if bits >> position & 1
        ]
        return frame.agg(*sums).select(F.lit(kind).alias("kind"), F.inline(F.array(*lines)))

    def _pairs(self, kind: str) -> DataFrame:
        asked, frame, layout = self._asked[kind], self._framed[kind], self._facts.layout
        by_word = [
            F.struct(
                (F.col("block") * layout.block + word * 64).alias("first"),
                *(F.col(f"x{n}_{word}").alias(f"x{n}") for n in range(len(asked))),
            )
            for word in range(layout.words)
        ]
        sets = [F.col(f"x{n}") for n in range(len(asked))]
        anyone = reduce(Column.bitwiseOR, sets)
        words = frame.select(F.col("id").alias("resource"), F.inline(F.array(*by_word))).where(anyone != 0)
        numbers = F.array(*(F.lit(n) for n in range(64)))
        each = (
            words.withColumn("anyone", anyone)
            .withColumn("n", F.explode(numbers))
            .where(c.bit_at(F.col("anyone"), F.col("n")) != 0)
        )
        actions = reduce(
            Column.__add__,
            (
                c.bit_at(mask, F.col("n")) * F.lit(bits).cast("bigint")
                for mask, bits in zip(sets, asked.values(), strict=True)
            ),
        )
        return each.select(
            (F.col("first") + F.col("n")).alias("member"),
            "resource",
            F.lit(kind).alias("kind"),
            actions.alias("actions"),
        )


def _asked(policy: Policy, kind: str) -> dict[Expression, int]:
    """What is asked of a kind, each once, with the actions that it answers for as bits."""
    asked: dict[Expression, int] = {}
    for n, action in enumerate(policy.kinds[kind].schema.actions):
        expression = policy.relations[kind, action]
        asked[expression] = asked.get(expression, 0) | 1 << n
    return asked


def _planned(spark: SparkSession) -> SparkSession:
    """The same Spark with plans that stay as they are made: sizes are known beforehand here, and planning anew after
    each of many small stages would take longer than all of them.
    """
    session = spark.newSession()
    session.conf.set("spark.sql.adaptive.enabled", "false")
    session.conf.set("spark.sql.shuffle.partitions", str(2 * spark.sparkContext.defaultParallelism))
    return session
