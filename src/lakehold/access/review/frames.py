"""Relations of a kind, as sets of members for each of its resources: one row a resource, one set of columns a relation.

What is asked at the end of an edge is a frame of the other kind, joined once for all that is asked there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from lakehold.access.model.expressions import (
    All,
    Any,
    Every,
    Everyone,
    Expression,
    Granted,
    Holder,
    Is,
    Item,
    MemberIs,
    Not,
    Relation,
    Some,
    Step,
    parts,
)
from lakehold.access.model.policy import Policy
from lakehold.access.review import columns as c
from lakehold.access.review.shipped import Shipped

SMALL = 10_000
"""What a kind with up to this many resources is asked at the end of an edge is worked out before, and sent along."""


class Frames:
    """Writes frames for one policy over shipped facts."""

    def __init__(self, policy: Policy, facts: Shipped, small: int) -> None:
        self._policy = policy
        self._facts = facts
        self._small = small
        self._known: dict[tuple[str, tuple[Expression, ...]], DataFrame] = {}
        self._holding: dict[tuple[str, Holder], DataFrame] = {}

    def frame(self, kind: str, asked: Sequence[Expression]) -> DataFrame:
        """`id`, `block`, and for the n-th expression the set `x<n>_*` of those in the block for whom it holds."""
        return _Kind(self, self._policy, self._facts, kind).frame(asked)

    def reviewed(self, kind: str, asked: Sequence[Expression]) -> DataFrame:
        """The same for the result; kept where there is much of it, since others may ask for some of it."""
        return self.frame(kind, asked) if self.is_small(kind) else self.kept(kind, asked)

    def kept(self, kind: str, asked: Sequence[Expression]) -> DataFrame:
        """The same for others to join: worked out once, so that no plan is written into another."""
        for (known_kind, known), frame in self._known.items():
            if known_kind == kind and set(asked) <= set(known):
                return self._chosen(frame, [known.index(expression) for expression in asked])
        light = self.is_small(kind) and all(self._is_light(expression, kind) for expression in asked)
        frame = self._facts.worked_out(kind, asked) if light else self.frame(kind, asked).localCheckpoint()
        self._known[kind, tuple(asked)] = frame
        return frame

    def _is_light(self, expression: Expression, kind: str) -> bool:
        """Whether nothing of what is asked leads on to a kind with many resources."""
        match expression:
            case Relation(_, name):
                return self._is_light(self._policy.relations[kind, name], kind)
            case Some(items, then) | Every(items, then):
                ends = {end for item in items for step in (item.step, item.otherwise) if step for end in step.kinds}
                return all(map(self.is_small, ends)) and all(self._is_light(part, end) for end, part in then)
            case _:
                return all(self._is_light(part, kind) for part in parts(expression))

    def _chosen(self, frame: DataFrame, places: Sequence[int]) -> DataFrame:
        """Some of a frame's sets, numbered anew."""
        names = self._facts.layout.names
        sets = [
            F.col(old).alias(new)
            for n, place in enumerate(places)
            for old, new in zip(names(f"x{place}"), names(f"x{n}"), strict=True)
        ]
        return frame.select("id", "block", *sets)

    def holding(self, kind: str, holder: Holder) -> DataFrame:
        """The resources of a kind for which the question holds for the person who holds the role: `id`."""
        if (kind, holder) not in self._holding:
            asked = self.kept(kind, (holder.question,)).join(self._facts.holders(kind, holder), "id")
            layout = self._facts.layout
            held = asked.where(layout.has(layout.columns("x0"), F.col("holder")))
            self._holding[kind, holder] = held.select("id").distinct()
        return self._holding[kind, holder]

    def is_small(self, kind: str) -> bool:
        """Whether a kind has few resources."""
        return self._facts.count(kind) <= self._small


class _Kind:
    """One frame in the making."""

    def __init__(self, frames: Frames, policy: Policy, facts: Shipped, kind: str) -> None:
        self._frames = frames
        self._policy = policy
        self._facts = facts
        self._kind = kind
        self._layout = facts.layout
        self._leaves: dict[Expression, str] = {}

    def frame(self, asked: Sequence[Expression]) -> DataFrame:
        for expression in asked:
            self._collect(expression)
        wide = self._joined()
        sets = [
            mask.alias(name)
            for n, expression in enumerate(asked)
            for mask, name in zip(self._masks(expression), self._layout.names(f"x{n}"), strict=True)
        ]
        return wide.select("id", "block", *sets)

    # What is needed

    def _collect(self, expression: Expression) -> None:
        match expression:
            case Relation(_, name):
                self._collect(self._policy.relations[self._kind, name])
            case All(inner) | Any(inner):
                for part in inner:
                    self._collect(part)
            case Not(part):
                self._collect(part)
            case Everyone():
                pass
            case _:
                self._leaves.setdefault(expression, f"l{len(self._leaves)}")

    def _masks(self, expression: Expression) -> c.Masks:
        match expression:
            case Relation(_, name):
                return self._masks(self._policy.relations[self._kind, name])
            case Any(inner):
                return reduce(c.either, map(self._masks, inner), self._layout.nobody())
            case All(inner):
                return reduce(c.both, map(self._masks, inner))
            case Not(part):
                return self._layout.inverse(self._masks(part))
            case Everyone():
                return self._layout.everybody()
            case Is(name, value, default):
                return self._layout.when(F.coalesce(F.col(f"a_{name}"), F.lit(default)) == value)
            case MemberIs(_, value, default):
                told = self._layout.columns(self._leaves[expression])
                return self._layout.inverse(told) if value == default else told
            case Holder():
                return self._layout.when(F.col(self._leaves[expression]).isNotNull())
            case _:
                return self._layout.columns(self._leaves[expression])

    # Joining it

    def _joined(self) -> DataFrame:
        steps = [self._plain_step(leaf) for leaf in self._leaves]
        wide = self._facts.resources(
            self._kind,
            sorted({leaf.name for leaf in self._leaves if isinstance(leaf, Is)}),
            sorted({step.edge for step in steps if step is not None and self._is_one(step)}),
        ).crossJoin(F.broadcast(self._facts.blocks()))
        wide = self._with_grants(wide)
        wide = self._with_ends(wide)
        for leaf, name in self._leaves.items():
            match leaf:
                case MemberIs():
                    told = self._facts.members_with(self._kind, leaf, name)
                    wide = wide.join(F.broadcast(told), ["id", "block"], "left")
                case Holder():
                    held = self._frames.holding(self._kind, leaf).withColumn(name, F.lit(True))
                    wide = self._left(wide, held, "id")
                case _:
                    pass
        for items, leaves in self._by_items().items():
            wide = self._left(wide, self._aggregated(items, leaves))
        return wide

    def _by_items(self) -> dict[tuple[Item, ...], list[tuple[Some | Every, str]]]:
        """What is asked of several, together with what else is asked of the same ones."""
        found: dict[tuple[Item, ...], list[tuple[Some | Every, str]]] = {}
        for leaf, name in self._leaves.items():
            step = self._plain_step(leaf)
            if isinstance(leaf, Some | Every) and not (step is not None and self._is_one(step)):
                found.setdefault(leaf.items, []).append((leaf, name))
        return found

    def _left(self, wide: DataFrame, other: DataFrame, *keys: str) -> DataFrame:
        sent = F.broadcast(other) if self._frames.is_small(self._kind) else other
        return wide.join(sent, list(keys or ("id", "block")), "left")

    def _plain_step(self, leaf: Expression) -> Step | None:
        """The step of a leaf that goes along one edge and asks nothing else of it."""
        if isinstance(leaf, Some) and len(leaf.items) == 1:
            item = leaf.items[0]
            if not item.where and item.otherwise is None:
                return item.step
        return None

    def _is_one(self, step: Step) -> bool:
        return not step.back and not self._policy.kinds[self._kind].schema.edges[step.edge].many

    def _with_grants(self, wide: DataFrame) -> DataFrame:
        granted = {leaf: name for leaf, name in self._leaves.items() if isinstance(leaf, Granted)}
        if not granted:
            return wide
        grants = self._facts.grants(self._kind).join(F.broadcast(self._facts.subjects()), "subject")
        nobody, bits = F.lit(0).cast("bigint"), self._facts.role_bits(self._kind)
        sums: list[Column] = []
        for leaf, name in granted.items():
            mask = sum(bits[role] for role in leaf.roles)
            counts = F.col("roles").bitwiseAND(F.lit(mask).cast("bigint")) != 0
            if leaf.person_only:
                counts &= F.col("is_person")
            masks = [F.when(counts, word).otherwise(nobody) for word in self._layout.columns("s")]
            sums.extend(self._layout.aggregated(F.bit_or, masks, name))
        return self._left(wide, grants.groupBy(F.col("resource").alias("id"), "block").agg(*sums))

    def _with_ends(self, wide: DataFrame) -> DataFrame:
        """Edges of which there is one: the other kind's frame, looked up by the edge's column."""
        by_step: dict[Step, list[tuple[Some, str]]] = {}
        for leaf, name in self._leaves.items():
            step = self._plain_step(leaf)
            if isinstance(leaf, Some) and step is not None and self._is_one(step):
                by_step.setdefault(step, []).append((leaf, name))
        for step, leaves in by_step.items():
            there = self._ends(step.kinds, [dict(leaf.then) for leaf, _ in leaves])
            renamed = [
                F.col(old).alias(new)
                for n, (_, name) in enumerate(leaves)
                for old, new in zip(self._layout.names(f"x{n}"), self._layout.names(name), strict=True)
            ]
            ends = there.select(F.col("id").alias(f"e_{step.edge}"), "block", *renamed)
            few = all(self._frames.is_small(kind) for kind in step.kinds)
            wide = wide.join(F.broadcast(ends) if few else ends, [f"e_{step.edge}", "block"], "left")
        return wide

    def _ends(self, kinds: Iterable[str], asked: Sequence[dict[str, Expression]]) -> DataFrame:
        frames = [self._frames.kept(kind, [then[kind] for then in asked]) for kind in kinds]
        return reduce(DataFrame.unionByName, frames)

    def _aggregated(self, items: Sequence[Item], leaves: Sequence[tuple[Some | Every, str]]) -> DataFrame:
        pairs = reduce(DataFrame.unionByName, (self._pairs(item) for item in items)).distinct()
        kinds = dict.fromkeys(
            kind for item in items for step in (item.step, item.otherwise) if step for kind in step.kinds
        )
        there = self._ends(kinds, [dict(leaf.then) for leaf, _ in leaves]).withColumnRenamed("id", "end")
        sums: list[Column] = []
        for n, (leaf, name) in enumerate(leaves):
            how = F.bit_and if isinstance(leaf, Every) else F.bit_or
            sums.extend(self._layout.aggregated(how, self._layout.columns(f"x{n}"), name))
        return pairs.join(there, "end").groupBy("id", "block").agg(*sums)

    def _pairs(self, item: Item) -> DataFrame:
        """From each resource to those that the item counts: `id`, `end`."""
        pairs = self._along(item.step)
        if item.where:
            counted = self._counted(dict(item.where), item.step.kinds)
            pairs = pairs.join(counted, "end", "left_semi")
        if item.otherwise is not None:
            pairs = pairs.unionByName(self._along(item.otherwise).join(pairs, "id", "left_anti"))
        return pairs

    def _counted(self, where: dict[str, Expression], kinds: Iterable[str]) -> DataFrame:
        # No person comes into a condition: it holds for everybody or for nobody.
        there = self._ends(kinds, [where])
        return there.where((F.col("block") == 0) & (F.col("x0_0") != 0)).select(F.col("id").alias("end"))

    def _along(self, step: Step) -> DataFrame:
        edges = self._facts.edges(step.kinds if step.back else (self._kind,), step.edge)
        near, far = ("target", "source") if step.back else ("source", "target")
        return edges.select(F.col(near).alias("id"), F.col(far).alias("end"))
