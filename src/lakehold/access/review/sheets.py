"""The facts of a kind as Arrow columns: one row for each resource, with only what is asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakehold.access.decide.check import holders, mask_of
from lakehold.access.facts.view import role_bit
from lakehold.access.model.expressions import Granted, Holder, Is, MemberIs, Step
from lakehold.access.review.bits import Numbers
from lakehold.access.review.facts import Facts
from lakehold.access.review.operations import ROLES, SUBJECTS

ID, UID = "id", "uid"


class Sheet:
    """Resources of one kind with columns, each made when it is first asked for and known by a name of its own."""

    def __init__(self, facts: Facts, kind: str, ids: Sequence[int]) -> None:
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

    def cut(self, rows: int) -> Iterator[bytes]:
        """All columns that were asked for, so many rows at a time, as workers read them."""
        for batch in pa.table(self._columns).to_batches(rows):
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, batch.schema) as stream:
                stream.write_batch(batch)
            yield sink.getvalue().to_pybytes()

    def grants(self, granted: Granted) -> int:
        """The roles of a question as bits, few for each kind however many there are in all; adds the grants."""
        bits = {role: 1 << n for n, role in enumerate(self._view.policy.kinds[self._kind].schema.roles)}
        if SUBJECTS not in self._columns:
            self._add_grants(bits)
        return sum(bits[role] for role in granted.roles)

    def values(self, asked: Is) -> str:
        """The values of an attribute."""
        values = self._view.attributes[asked.name]
        known = (values.get(number, asked.default) for number in self.ids)
        return self._column((asked.name, asked.default), lambda: pa.array(list(known), pa.string()))

    def members_with(self, asked: MemberIs) -> str:
        """The members whose membership has the value, or has another where the value is what it usually is."""
        members, values = self._view.members, self._view.memberships[asked.name]
        usual = asked.value == asked.default
        told = (
            [members[member] for member, value in found.items() if (value == asked.value) != usual] if found else ()
            for found in map(values.get, self.ids)
        )
        return self._lists(asked, told)

    def holders(self, holder: Holder) -> str:
        """The members who hold the role that a question is about."""
        view, mask = self._view, mask_of(holder.role.roles)
        holding = (holders(view, holder.steps, mask, number) for number in self.ids)
        return self._lists((holder.steps, holder.role), ([view.members[who] for who in found] for found in holding))

    def ends(self, step: Step) -> str:
        """The resources at the end of a step."""
        return self._lists(step, self._along(step))

    def presence(self, step: Step) -> str:
        """Whether there is anything at the end of a step."""
        return self._flags((step, "presence"), map(bool, self._along(step)))

    def among(self, ids: Iterable[int]) -> str:
        """Whether a resource is one of these."""
        return self._flags("among", map(frozenset(ids).__contains__, self.ids))

    def askers(self, step: Step, kind: str, rows: Mapping[int, int]) -> str:
        """The resources of a kind whose step leads here, by their rows."""
        edges = (self._view.out if step.back else self._view.back)[step.edge]
        asking = (
            [rows[asker] for asker in found if asker in rows] if found else () for found in map(edges.get, self.ids)
        )
        return self._lists((step, kind, "askers"), asking)

    def _along(self, step: Step) -> Iterator[Sequence[int]]:
        """For each resource those at the end of a step."""
        if not step.back:
            return (found or () for found in map(self._view.out[step.edge].get, self.ids))
        back, kinds = self._view.back[step.edge], self._view.kinds
        return (
            [source for source in found if kinds.get(source) in step.kinds] if found else ()
            for found in map(back.get, self.ids)
        )

    def _flags(self, key: object, flags: Iterable[bool]) -> str:
        return self._column(key, lambda: pa.array(list(flags), pa.bool_()))

    def _lists(self, key: object, lists: Iterable[Sequence[int]]) -> str:
        def made() -> pa.Array:
            found = list(lists)
            flat = np.fromiter(chain.from_iterable(found), np.int64)
            return pa.ListArray.from_arrays(_offsets(found), pa.array(flat))

        return self._column(key, made)

    def _column(self, key: object, make: Callable[[], pa.Array]) -> str:
        name = self._names.setdefault(key, f"c{len(self._names)}")
        if name not in self._columns:
            self._columns[name] = make()
        return name

    def _add_grants(self, bits: Mapping[str, int]) -> None:
        held = [found or {} for found in map(self._view.grants.get, self.ids)]
        offsets = _offsets(held)
        subjects = np.fromiter(chain.from_iterable(held), np.int64)
        self._place_all(subjects, offsets)
        roles = [mask for found in held for mask in found.values()]
        local = [(role_bit(role), bit) for role, bit in bits.items()]
        masks = {mask: sum(bit for role, bit in local if mask & role) for mask in set(roles)}
        given = np.fromiter(map(masks.__getitem__, roles), np.int64)
        self._columns[SUBJECTS] = pa.ListArray.from_arrays(offsets, pa.array(self._facts.coded(subjects)))
        self._columns[ROLES] = pa.ListArray.from_arrays(offsets, pa.array(given))

    def _place_all(self, subjects: Numbers, offsets: NDArray[np.int32]) -> None:
        """All means different people in different workspaces: there it is numbered by the root, negatively."""
        steps = self._view.policy.kinds[self._kind].everyone
        if steps is None:
            return
        for place in np.flatnonzero(subjects == self._view.everyone):
            here = self.ids[int(np.searchsorted(offsets, place, side="right")) - 1]
            for step in steps:
                here = next(iter(self._view.out[step.edge].get(here) or ()), 0)
            subjects[place] = -here


def _offsets(lists: Sequence[Collection[int]]) -> NDArray[np.int32]:
    """Where each list begins when they stand one after the other, and where the last one ends."""
    return np.cumsum([0, *map(len, lists)], dtype=np.int32)
