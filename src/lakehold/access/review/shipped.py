"""The facts of a view as DataFrames. What there is one of for each resource (attributes, edges to one) is a column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from lakehold.access.decide.check import holders, mask_of
from lakehold.access.decide.effects import sets_of
from lakehold.access.decide.members import belonging, of_holder
from lakehold.access.decide.subjects import within
from lakehold.access.facts.view import View, role_bit
from lakehold.access.model.expressions import Expression, Holder, MemberIs
from lakehold.access.model.policy import GROUP, MEMBER
from lakehold.access.review.columns import Layout


class Shipped:
    """The facts of one view in one Spark session."""

    def __init__(self, spark: SparkSession, view: View) -> None:
        self._spark = spark
        self._view = view
        self.layout = Layout(len(view.members))
        self._subjects: DataFrame | None = None
        self._grants: dict[str, DataFrame] = {}

    def count(self, kind: str) -> int:
        """How many resources of a kind there are."""
        return len(self._view.of_kind.get(kind) or ())

    def blocks(self) -> DataFrame:
        """The blocks of members: `block`, and all that are in it as `everybody_*`."""
        return self._sets({0: (1 << len(self._view.members)) - 1}, "all", "everybody").drop("all")

    def resources(self, kind: str, attributes: Iterable[str], edges: Iterable[str]) -> DataFrame:
        """The resources of a kind, with attributes as `a_name` and edges of which there is one as `e_name`."""
        view, ids = self._view, list(self._view.of_kind.get(kind) or ())
        data: dict[str, pa.Array] = {"id": pa.array(ids, pa.int64())}
        for name in attributes:
            values = view.attributes[name]
            data[f"a_{name}"] = pa.array([values.get(number) for number in ids], pa.string())
        for edge in edges:
            out = view.out[edge]
            ends = ((out.get(number) or (None,))[0] for number in ids)
            data[f"e_{edge}"] = pa.array(list(ends), pa.int64())
        return self._frame(data)

    def edges(self, sources: Sequence[str], edge: str) -> DataFrame:
        """The edges of this name that lead away from resources of these kinds: `source`, `target`."""
        pairs = [
            (source, target)
            for kind in sources
            for source in self._view.of_kind.get(kind) or ()
            for target in self._view.out[edge].get(source) or ()
        ]
        return self._frame(
            {
                "source": pa.array([source for source, _ in pairs], pa.int64()),
                "target": pa.array([target for _, target in pairs], pa.int64()),
            }
        )

    def grants(self, kind: str) -> DataFrame:
        """The grants on resources of a kind: `resource`, `subject`, `roles` as bits, `is_person`."""
        if kind not in self._grants:
            view = self._view
            resources: list[int] = []
            subjects: list[int] = []
            roles: list[int] = []
            for resource in view.of_kind.get(kind) or ():
                held = view.grants.get(resource)
                if held:
                    resources.extend([resource] * len(held))
                    subjects.extend(self._meant(held, kind, resource))
                    roles.extend(held.values())
            local = [(role_bit(role), bit) for role, bit in self.role_bits(kind).items()]
            bits = {mask: sum(bit for role, bit in local if mask & role) for mask in set(roles)}
            self._grants[kind] = self._frame(
                {
                    "resource": pa.array(resources, pa.int64()),
                    "subject": pa.array(subjects, pa.int64()),
                    "roles": pa.array([bits[mask] for mask in roles], pa.int64()),
                    "is_person": pa.array([subject in view.members for subject in subjects], pa.bool_()),
                }
            )
        return self._grants[kind]

    def role_bits(self, kind: str) -> dict[str, int]:
        """The bits of a kind's roles in `grants`: few for each kind, however many roles there are in all."""
        return {role: 1 << n for n, role in enumerate(self._view.policy.kinds[kind].schema.roles)}

    def _meant(self, held: dict[int, int], kind: str, resource: int) -> Iterable[int]:
        """All means different people in different workspaces: there it is numbered by the root, negatively."""
        everyone = self._view.everyone
        steps = self._view.policy.kinds[kind].everyone
        if everyone not in held or steps is None:
            return held
        here = resource
        for step in steps:
            here = next(iter(self._view.out[step.edge].get(here) or ()), 0)
        return [-here if subject == everyone else subject for subject in held]

    def subjects(self) -> DataFrame:
        """Whom a grant to each subject reaches: `subject`, `block`, `s_*`."""
        if self._subjects is None:
            view = self._view
            holding = (number for kind in (MEMBER, GROUP) for number in view.of_kind.get(kind) or ())
            sets = {number: of_holder(view, number) for number in holding}
            sets[view.everyone] = (1 << len(view.members)) - 1
            for kind in view.policy.kinds.values():
                root = view.policy.everyone(kind.id)
                if root is not None and root.kind == kind.id:
                    for number in view.of_kind.get(kind.id) or ():
                        sets[-number] = belonging(view, number, [], mask_of(root.roles))
            self._subjects = self._sets(sets, "subject", "s")
        return self._subjects

    def members_with(self, kind: str, asked: MemberIs, prefix: str) -> DataFrame:
        """For resources of a kind the members whose membership says something else than the default: `id`, `block`,
        and the set.
        """
        view = self._view
        sets: dict[int, int] = {}
        for resource in view.of_kind.get(kind) or ():
            values = view.memberships[asked.name].get(resource) or {}
            told = [
                member for member, value in values.items() if (value == asked.value) != (asked.value == asked.default)
            ]
            if told:
                sets[resource] = sum(1 << view.members[member] for member in told)
        return self._sets(sets, "id", prefix)

    def worked_out(self, kind: str, asked: Sequence[Expression]) -> DataFrame:
        """Relations of a kind that has few resources, worked out here: `id`, `block`, and `x<n>_*` for each."""
        sets, view, layout = sets_of(self._view.policy), self._view, self.layout
        tests = [sets.of(expression) for expression in asked]
        rows = [
            (resource, block, [word for members in found for word in layout.cut(members, block)])
            for resource in view.of_kind.get(kind) or ()
            for found in [[test(view, resource) for test in tests]]
            for block in range(layout.blocks)
        ]
        names = [name for n in range(len(asked)) for name in layout.names(f"x{n}")]
        return self._rows("id", rows, names)

    def holders(self, kind: str, holder: Holder) -> DataFrame:
        """For resources of a kind the member who holds the role there: `id`, `holder` as the member's number."""
        view, mask = self._view, mask_of(holder.role.roles)
        pairs = [
            (resource, view.members[person])
            for resource in view.of_kind.get(kind) or ()
            for person in holders(view, holder.steps, mask, resource)
        ]
        return self._frame(
            {
                "id": pa.array([resource for resource, _ in pairs], pa.int64()),
                "holder": pa.array([number for _, number in pairs], pa.int64()),
            }
        )

    def names(self, kinds: Iterable[str], inside: str | None) -> DataFrame:
        """The public ids of resources, all or those inside one: `id`, `uid`."""
        ids = [number for kind in kinds for number in self._view.of_kind.get(kind) or ()]
        if inside is not None:
            around = frozenset({self._view.uid(self._view.resource(inside))})
            ids = [number for number in ids if within(self._view, number, around)]
        return self._frame(
            {"id": pa.array(ids, pa.int64()), "uid": pa.array([self._view.uid(n) for n in ids], pa.string())}
        )

    def member_names(self) -> DataFrame:
        """The public ids of members: `number`, `uid`."""
        members = self._view.members
        return self._frame(
            {
                "number": pa.array(list(members.values()), pa.int32()),
                "uid": pa.array([self._view.uid(member) for member in members], pa.string()),
            }
        )

    def bits(self, actions: Mapping[str, Sequence[str]]) -> DataFrame:
        """Which bit stands for which action: `kind`, `action`, `bit`."""
        lines = [(kind, action, 1 << n) for kind, named in actions.items() for n, action in enumerate(named)]
        return self._frame(
            {
                "kind": pa.array([kind for kind, _, _ in lines], pa.string()),
                "action": pa.array([action for _, action, _ in lines], pa.string()),
                "bit": pa.array([bit for _, _, bit in lines], pa.int64()),
            }
        )

    def _sets(self, sets: dict[int, int], key: str, prefix: str) -> DataFrame:
        """Sets of members, one row for each block in which somebody is."""
        rows = [
            (number, block, words)
            for number, members in sets.items()
            for block in range(self.layout.blocks)
            if any(words := self.layout.cut(members, block))
        ]
        return self._rows(key, rows, self.layout.names(prefix))

    def _rows(self, key: str, rows: Sequence[tuple[int, int, list[int]]], names: Sequence[str]) -> DataFrame:
        data = {
            key: pa.array([number for number, _, _ in rows], pa.int64()),
            "block": pa.array([block for _, block, _ in rows], pa.int32()),
        }
        for n, name in enumerate(names):
            data[name] = pa.array([words[n] for _, _, words in rows], pa.int64())
        return self._frame(data)

    def _frame(self, data: dict[str, pa.Array]) -> DataFrame:
        return self._spark.createDataFrame(pa.table(data))
