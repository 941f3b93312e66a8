"""The facts of one view, as what the review needs of them: numbers, and sets of members."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from lakehold.access.decide.check import mask_of
from lakehold.access.decide.effects import sets_of
from lakehold.access.decide.members import belonging, of_holder
from lakehold.access.facts.view import View
from lakehold.access.model.expressions import Expression
from lakehold.access.model.policy import GROUP
from lakehold.access.review.bits import Layout, Matrix, Numbers


class Facts:
    """The facts of one view."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.layout = Layout(len(view.members))

    def count(self, kind: str) -> int:
        """How many resources of a kind there are."""
        return len(self.view.of_kind.get(kind) or ())

    def ids(self, kind: str) -> list[int]:
        """The resources of a kind, by number."""
        return list(self.view.of_kind.get(kind) or ())

    @cached_property
    def groups(self) -> Matrix:
        """Whom a grant reaches that is not to one member: nobody, then groups, then what All means in each place."""
        return self.layout.matrix([0, *self._groups.values()])

    def coded(self, subjects: Numbers) -> Numbers:
        """The numbers of subjects as workers know them: members by their bit, others by their row in `groups` after
        all members; what is not known is nobody.
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
        """All means different people in different workspaces: there it is numbered by the root, negatively."""
        view = self.view
        found = {number: of_holder(view, number) for number in view.of_kind.get(GROUP) or ()}
        found[view.everyone] = (1 << self.layout.members) - 1
        for kind in view.policy.kinds.values():
            root = view.policy.everyone(kind.id)
            if root is not None and root.kind == kind.id:
                for number in view.of_kind.get(kind.id) or ():
                    found[-number] = belonging(view, number, [], mask_of(root.roles))
        return found

    def worked_out(self, asked: Iterable[tuple[str, Expression]]) -> tuple[Numbers, Matrix]:
        """For all resources of kinds that have few what is asked of them, worked out here: numbers in order, sets."""
        view, sets = self.view, sets_of(self.view.policy)
        found = {
            number: test(view, number)
            for kind, expression in asked
            for test in [sets.of(expression)]
            for number in view.of_kind.get(kind) or ()
        }
        ids = sorted(found)
        return np.array(ids, np.int64), self.layout.matrix(found[number] for number in ids)
