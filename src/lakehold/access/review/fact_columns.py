"""The facts of one view for the review: numbers, sets of members, and Arrow columns with one row for each resource."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakehold.access.decisions.check import role_holders, role_mask
from lakehold.access.decisions.member_sets import compiled_member_sets, everyone_members, members_of_holder
from lakehold.access.facts.view import FactView, role_bit
from lakehold.access.model.expressions import AttributeIs, EdgeStep, Expression, HasRole, MembershipIs, RoleHolder
from lakehold.access.model.policy import GROUP
from lakehold.access.review.member_bits import BitLayout, Matrix, Numbers
from lakehold.access.review.operations import ROLES, SUBJECTS


class ReviewFacts:
    """The facts of one view."""

    def __init__(self, view: FactView) -> None:
        self.view = view
        self.layout = BitLayout(len(view.members))

    def count(self, kind: str) -> int:
        """Return how many resources of a kind there are."""
        return len(self.view.by_kind.get(kind) or ())

    def ids(self, kind: str) -> list[int]:
        """Return the resources of a kind, by number."""
        return list(self.view.by_kind.get(kind) or ())

    @cached_property
    def groups(self) -> Matrix:
        """The members whom a grant to no single member reaches: nobody, groups, and what All means in each place."""
        return self.layout.matrix([0, *self._groups.values()])

    def to_codes(self, subjects: Numbers) -> Numbers:
        """Return the numbers of subjects as workers know them: members by their bit, others by their row in `groups`
        after all members; an unknown subject is nobody.
        """
        known, codes = self._codes
        at = np.minimum(np.searchsorted(known, subjects), len(known) - 1)
        return np.where(known[at] == subjects, codes[at], self.layout.members)

    @cached_property
    def _codes(self) -> tuple[Numbers, Numbers]:
        first = self.layout.members + 1
        codes = dict(self.view.members) | {number: first + place for place, number in enumerate(self._groups)}
        known = sorted(codes)
        return np.array(known, np.int64), np.array([codes[number] for number in known], np.int64)

    @cached_property
    def _groups(self) -> dict[int, int]:
        """The groups by number; All by the root's, negatively, where it means different people in each workspace."""
        view = self.view
        found = {number: members_of_holder(view, number) for number in view.by_kind.get(GROUP) or ()}
        found[view.everyone] = (1 << self.layout.members) - 1
        for kind in view.policy.kinds.values():
            root = view.policy.everyone_roles(kind.id)
            if root is not None and root.kind == kind.id:
                for number in view.by_kind.get(kind.id) or ():
                    found[-number] = everyone_members(view, number, [], role_mask(root.roles))
        return found

    def evaluate(self, questions: Iterable[tuple[str, Expression]]) -> tuple[Numbers, Matrix]:
        """Evaluate questions for all resources of small kinds: their numbers in order, and the sets of members."""
        view, sets = self.view, compiled_member_sets(self.view.policy)
        found = {
            number: test(view, number)
            for kind, expression in questions
            for test in [sets.expression_set(expression)]
            for number in view.by_kind.get(kind) or ()
        }
        ids = sorted(found)
        return np.array(ids, np.int64), self.layout.matrix(found[number] for number in ids)


ID, UID = "id", "uid"


class KindColumns:
    """The resources of one kind with columns, each computed on first use and known by a name of its own."""

    def __init__(self, facts: ReviewFacts, kind: str, ids: Sequence[int]) -> None:
        self._facts = facts
        self._view = facts.view
        self._kind = kind
        self.ids = ids
        self._names: dict[object, str] = {}
        self._columns: dict[str, pa.Array] = {
            ID: pa.array(ids, pa.int64()),
            UID: pa.array(list(map(facts.view.uids.get, ids)), pa.string()),
        }

    @cached_property
    def rows(self) -> dict[int, int]:
        """The row of each resource."""
        return {number: row for row, number in enumerate(self.ids)}

    def to_batches(self, rows: int) -> Iterator[bytes]:
        """Yield all columns, so many rows at a time, in the form in which workers read them."""
        for batch in pa.table(self._columns).to_batches(rows):
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, batch.schema) as stream:
                stream.write_batch(batch)
            yield sink.getvalue().to_pybytes()

    def grants(self, granted: HasRole) -> int:
        """Return the roles of a question as bits, few for each kind however many there are in all; adds the grants."""
        bits = {role: 1 << n for n, role in enumerate(self._view.policy.kinds[self._kind].schema.roles)}
        if SUBJECTS not in self._columns:
            self._add_grants(bits)
        return sum(bits[role] for role in granted.roles)

    def values(self, condition: AttributeIs) -> str:
        """Return the column of an attribute's values."""
        values = self._view.attributes[condition.name]
        known = (values.get(number, condition.default) for number in self.ids)
        return self._column((condition.name, condition.default), lambda: pa.array(list(known), pa.string()))

    def members_with(self, condition: MembershipIs) -> str:
        """Return the column of members whose membership has the value, by itself or by default."""
        members, values = self._view.members, self._view.memberships[condition.name]
        usual = condition.value == condition.default
        members_by_row = (
            [members[member] for member, value in found.items() if (value == condition.value) != usual] if found else ()
            for found in map(values.get, self.ids)
        )
        return self._lists(condition, members_by_row)

    def holders(self, holder: RoleHolder) -> str:
        """Return the column of members whom a question is about: who hold the role, or are the resource."""
        view, persons = self._view, role_holders(holder)
        holding = (persons(view, number) for number in self.ids)
        return self._lists((holder.steps, holder.role), ([view.members[who] for who in found] for found in holding))

    def ends(self, step: EdgeStep) -> str:
        """Return the column of resources at the end of a step."""
        return self._lists(step, self._along(step))

    def presence(self, step: EdgeStep) -> str:
        """Return the column that says whether there is anything at the end of a step."""
        return self._flags((step, "presence"), map(bool, self._along(step)))

    def membership(self, ids: Iterable[int]) -> str:
        """Return the column that says whether a resource is one of these."""
        return self._flags("among", map(frozenset(ids).__contains__, self.ids))

    def asking_rows(self, step: EdgeStep, kind: str, rows: Mapping[int, int]) -> str:
        """Return the column of resources of a kind whose step leads here, by their rows."""
        edges = (self._view.edges_out if step.back else self._view.edges_in)[step.edge]
        asking = (
            [rows[principal] for principal in found if principal in rows] if found else ()
            for found in map(edges.get, self.ids)
        )
        return self._lists((step, kind, "principals"), asking)

    def _along(self, step: EdgeStep) -> Iterator[Sequence[int]]:
        """Yield for each resource those at the end of a step."""
        if not step.back:
            return (found or () for found in map(self._view.edges_out[step.edge].get, self.ids))
        back, kinds = self._view.edges_in[step.edge], self._view.kinds
        return (
            [source for source in found if kinds.get(source) in step.kinds] if found else ()
            for found in map(back.get, self.ids)
        )

    def _flags(self, key: object, flags: Iterable[bool]) -> str:
        return self._column(key, lambda: pa.array(list(flags), pa.bool_()))

    def _lists(self, key: object, lists: Iterable[Sequence[int]]) -> str:
        def build_array() -> pa.Array:
            found = list(lists)
            flat = np.fromiter(chain.from_iterable(found), np.int64)
            return pa.ListArray.from_arrays(_offsets(found), pa.array(flat))

        return self._column(key, build_array)

    def _column(self, key: object, make: Callable[[], pa.Array]) -> str:
        name = self._names.setdefault(key, f"c{len(self._names)}")
        if name not in self._columns:
            self._columns[name] = make()
        return name

    def _add_grants(self, bits: Mapping[str, int]) -> None:
        held = [found or {} for found in map(self._view.grants.get, self.ids)]
        offsets = _offsets(held)
        subjects = np.fromiter(chain.from_iterable(held), np.int64)
        self._localize_everyone(subjects, offsets)
        roles = [mask for found in held for mask in found.values()]
        local = [(role_bit(role), bit) for role, bit in bits.items()]
        masks = {mask: sum(bit for role, bit in local if mask & role) for mask in set(roles)}
        given = np.fromiter(map(masks.__getitem__, roles), np.int64)
        self._columns[SUBJECTS] = pa.ListArray.from_arrays(offsets, pa.array(self._facts.to_codes(subjects)))
        self._columns[ROLES] = pa.ListArray.from_arrays(offsets, pa.array(given))

    def _localize_everyone(self, subjects: Numbers, offsets: NDArray[np.int32]) -> None:
        """Number the group All by the root, negatively, where it means different people in different workspaces."""
        steps = self._view.policy.kinds[self._kind].everyone
        if steps is None:
            return
        for place in np.flatnonzero(subjects == self._view.everyone):
            here = self.ids[int(np.searchsorted(offsets, place, side="right")) - 1]
            for step in steps:
                here = next(iter(self._view.edges_out[step.edge].get(here) or ()), 0)
            subjects[place] = -here


def _offsets(lists: Sequence[Collection[int]]) -> NDArray[np.int32]:
    """Return where each list begins when they stand one after the other, and where the last one ends."""
    return np.cumsum([0, *map(len, lists)], dtype=np.int32)
