"""The expressions of a kind as operations on matrices. Compiled in the driver and carried to the workers, which need
nothing but numpy and Arrow for them.

Each operation gives, for a batch of resources, the members for whom it holds: one row for each resource.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lakehold.access.review.member_bits import BitLayout, Matrix, Numbers, from_column, union_rows

SUBJECTS, ROLES = "subjects", "roles"
"""The columns of grants: whom they name, and which roles they give."""


class Operation(Protocol):
    """An operation that holds for some members."""

    def evaluate(self, batch: ReviewBatch) -> Matrix:
        """Return the members for whom it holds. The result must not be modified."""


class ReviewBatch:
    """Some resources of one kind: their facts in columns, and the answers of joins for them."""

    def __init__(self, layout: BitLayout, columns: pa.RecordBatch, answers: pa.StructArray | None) -> None:
        self.layout = layout
        self.rows: int = columns.num_rows
        self._columns = columns
        self._answers = answers
        self._known: dict[int, Matrix] = {}

    def evaluate(self, operation: Operation) -> Matrix:
        """Return the members for whom the operation holds, evaluated once."""
        known = self._known.get(id(operation))
        if known is None:
            known = self._known[id(operation)] = operation.evaluate(self)
        return known

    def column(self, name: str) -> pa.Array:
        """Return a column of single values."""
        return self._columns.column(name)

    def numbers(self, name: str) -> tuple[Numbers, Numbers]:
        """Return a column of lists of numbers: the row that each belongs to, and the numbers."""
        lists = self._columns.column(name)
        lengths = lists.value_lengths().to_numpy(zero_copy_only=False)
        return np.repeat(np.arange(self.rows), lengths), lists.flatten().to_numpy().astype(np.int64)

    def answers(self, join: int, words: int) -> Matrix:
        """Return the answers at the ends of edges: the sets of one join side by side."""
        if self._answers is None:
            return np.zeros((self.rows, words), np.uint64)
        found = self._answers.filter(pc.equal(self._answers.field("join"), join))
        rows = found.field("row").to_numpy()
        order = np.argsort(rows, kind="stable")
        return union_rows(self.rows, rows[order], from_column(found.field("sets"), words)[order])

    def when(self, holds: NDArray[np.bool_]) -> Matrix:
        """Return everybody in the rows where a condition holds, nobody elsewhere."""
        return np.where(holds[:, None], self.layout.everybody(), np.uint64(0))


@dataclass(frozen=True, slots=True, eq=False)
class EverybodyOperation:
    """Holds for all."""

    def evaluate(self, batch: ReviewBatch) -> Matrix:
        """Return all members."""
        return batch.layout.everybody(batch.rows)


@dataclass(frozen=True, slots=True, eq=False)
class UnionOperation:
    """Holds if one of the parts does."""

    parts: tuple[Operation, ...]

    def evaluate(self, batch: ReviewBatch) -> Matrix:
        """Return the members of any part."""
        return reduce(np.bitwise_or, map(batch.evaluate, self.parts), batch.layout.nobody(batch.rows))


@dataclass(frozen=True, slots=True, eq=False)
class IntersectionOperation:
    """Holds if all parts do."""

    parts: tuple[Operation, ...]

    def evaluate(self, batch: ReviewBatch) -> Matrix:
        """Return the members of all parts."""
        return reduce(np.bitwise_and, map(batch.evaluate, self.parts))


@dataclass(frozen=True, slots=True, eq=False)
class ComplementOperation:
    """Holds if the part does not."""

    part: Operation

    def evaluate(self, batch: ReviewBatch) -> Matrix:
        """Return all members who are not in the part."""
        return ~batch.evaluate(self.part) & batch.layout.everybody()


@dataclass(frozen=True, slots=True, eq=False)
class GrantOperation:
    """Holds by grants, to members by their number and to groups, with their members here."""

    roles: int
    person_only: bool
    groups: Matrix

    def evaluate(self, batch: ReviewBatch) -> Matrix:
        """Return the members who hold one of the roles, themselves or by a group."""
        layout = batch.layout
        places, subjects = batch.numbers(SUBJECTS)
        counted = (batch.numbers(ROLES)[1] & self.roles) != 0
        own = counted & (subjects < layout.members)
        found = layout.mark(batch.rows, places[own], subjects[own])
        if self.person_only:
            return found
        other = counted & ~own
        return found | union_rows(batch.rows, places[other], self.groups[subjects[other] - layout.members])


@dataclass(frozen=True, slots=True, eq=False)
class AttributeOperation:
    """Holds where an attribute has this value."""

    column: str
    value: str

    def evaluate(self, batch: ReviewBatch) -> Matrix:
        """Return everybody where the attribute has the value."""
        return batch.when(pc.equal(batch.column(self.column), self.value).to_numpy(zero_copy_only=False))


@dataclass(frozen=True, slots=True, eq=False)
class FlagOperation:
    """Holds where a column is true."""

    column: str

    def evaluate(self, batch: ReviewBatch) -> Matrix:
        """Return everybody where the column is true."""
        return batch.when(batch.column(self.column).to_numpy(zero_copy_only=False))


@dataclass(frozen=True, slots=True, eq=False)
class MemberListOperation:
    """Holds for the members that a column lists."""

    column: str

    def evaluate(self, batch: ReviewBatch) -> Matrix:
        """Return the members that the column lists."""
        return batch.layout.mark(batch.rows, *batch.numbers(self.column))


@dataclass(frozen=True, slots=True, eq=False)
class HolderOperation:
    """Holds where the question holds for one of the members that a column lists."""

    column: str
    question: Operation

    def evaluate(self, batch: ReviewBatch) -> Matrix:
        """Return everybody where the question holds for a listed member."""
        places, members = batch.numbers(self.column)
        yes = batch.layout.has(batch.evaluate(self.question), places, members)
        return batch.when(np.bincount(places[yes], minlength=batch.rows) > 0)


@dataclass(frozen=True, slots=True, eq=False)
class EdgeEndsOperation:
    """Holds at one of the ends of edges, of which there are few: evaluated beforehand, and looked up by number."""

    column: str
    ids: Numbers
    """In order."""
    sets: Matrix

    def evaluate(self, batch: ReviewBatch) -> Matrix:
        """Return the members for whom it holds at an end."""
        places, ends = batch.numbers(self.column)
        at = np.minimum(np.searchsorted(self.ids, ends), len(self.ids) - 1)
        known = self.ids[at] == ends
        return union_rows(batch.rows, places[known], self.sets[at[known]])


@dataclass(slots=True, eq=False)
class JoinAnswers:
    """The answers of Spark at the ends of edges, of which there are many: the sets of one join, side by side."""

    join: int
    count: int = 0

    def evaluate(self, batch: ReviewBatch) -> Matrix:
        """Return all sets of the join."""
        return batch.answers(self.join, self.count * batch.layout.words)


@dataclass(frozen=True, slots=True, eq=False)
class JoinAnswer:
    """One set of a join."""

    answers: JoinAnswers
    place: int

    def evaluate(self, batch: ReviewBatch) -> Matrix:
        """Return the members for whom it holds at an end."""
        words = batch.layout.words
        return batch.evaluate(self.answers)[:, self.place * words : (self.place + 1) * words]
