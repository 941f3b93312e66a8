"""What a kind is asked, as operations on matrices. Made in the driver and carried to the workers, which need nothing
but numpy and Arrow for it.

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

from lakehold.access.review.bits import Layout, Matrix, Numbers, folded, of_column

SUBJECTS, ROLES = "subjects", "roles"
"""The columns of grants: whom they name, and which roles they give."""


class Operation(Protocol):
    """Something that holds for some members."""

    def of(self, batch: Batch) -> Matrix:
        """For whom it holds. What is returned is not to be changed."""


class Batch:
    """Some resources of one kind: what is known of each in columns, and what others have been asked for them."""

    def __init__(self, layout: Layout, columns: pa.RecordBatch, answers: pa.StructArray | None) -> None:
        self.layout = layout
        self.rows: int = columns.num_rows
        self._columns = columns
        self._answers = answers
        self._known: dict[int, Matrix] = {}

    def of(self, operation: Operation) -> Matrix:
        """For whom the operation holds, worked out once."""
        known = self._known.get(id(operation))
        if known is None:
            known = self._known[id(operation)] = operation.of(self)
        return known

    def column(self, name: str) -> pa.Array:
        """A column of single values."""
        return self._columns.column(name)

    def numbers(self, name: str) -> tuple[Numbers, Numbers]:
        """A column of lists of numbers: to which row each belongs, and the numbers."""
        lists = self._columns.column(name)
        lengths = lists.value_lengths().to_numpy(zero_copy_only=False)
        return np.repeat(np.arange(self.rows), lengths), lists.flatten().to_numpy().astype(np.int64)

    def answers(self, join: int, words: int) -> Matrix:
        """What was found at the ends of edges: the sets of one join side by side."""
        if self._answers is None:
            return np.zeros((self.rows, words), np.uint64)
        found = self._answers.filter(pc.equal(self._answers.field("join"), join))
        rows = found.field("row").to_numpy()
        order = np.argsort(rows, kind="stable")
        return folded(self.rows, rows[order], of_column(found.field("sets"), words)[order])

    def when(self, holds: NDArray[np.bool_]) -> Matrix:
        """Everybody in the rows where something holds, nobody elsewhere."""
        return np.where(holds[:, None], self.layout.everybody(), np.uint64(0))


@dataclass(frozen=True, slots=True, eq=False)
class Everybody:
    """Holds for all."""

    def of(self, batch: Batch) -> Matrix:
        """All members."""
        return batch.layout.everybody(batch.rows)


@dataclass(frozen=True, slots=True, eq=False)
class Union:
    """Holds if one of the parts does."""

    parts: tuple[Operation, ...]

    def of(self, batch: Batch) -> Matrix:
        """Those of any part."""
        return reduce(np.bitwise_or, map(batch.of, self.parts), batch.layout.nobody(batch.rows))


@dataclass(frozen=True, slots=True, eq=False)
class Meet:
    """Holds if all parts do."""

    parts: tuple[Operation, ...]

    def of(self, batch: Batch) -> Matrix:
        """Those of all parts."""
        return reduce(np.bitwise_and, map(batch.of, self.parts))


@dataclass(frozen=True, slots=True, eq=False)
class Inverse:
    """Holds if the part does not."""

    part: Operation

    def of(self, batch: Batch) -> Matrix:
        """All others."""
        return ~batch.of(self.part) & batch.layout.everybody()


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """Grants. A subject below the number of members is one of them; others are groups, with their members here."""

    roles: int
    person_only: bool
    groups: Matrix

    def of(self, batch: Batch) -> Matrix:
        """Those who were given one of the roles, themselves or as one of a group."""
        layout = batch.layout
        places, subjects = batch.numbers(SUBJECTS)
        counted = (batch.numbers(ROLES)[1] & self.roles) != 0
        own = counted & (subjects < layout.members)
        found = layout.marked(batch.rows, places[own], subjects[own])
        if self.person_only:
            return found
        other = counted & ~own
        return found | folded(batch.rows, places[other], self.groups[subjects[other] - layout.members])


@dataclass(frozen=True, slots=True, eq=False)
class Valued:
    """An attribute has this value."""

    column: str
    value: str

    def of(self, batch: Batch) -> Matrix:
        """Everybody where it has."""
        return batch.when(pc.equal(batch.column(self.column), self.value).to_numpy(zero_copy_only=False))


@dataclass(frozen=True, slots=True, eq=False)
class Flagged:
    """A column says yes."""

    column: str

    def of(self, batch: Batch) -> Matrix:
        """Everybody where it does."""
        return batch.when(batch.column(self.column).to_numpy(zero_copy_only=False))


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """A column names members."""

    column: str

    def of(self, batch: Batch) -> Matrix:
        """Those whom it names."""
        return batch.layout.marked(batch.rows, *batch.numbers(self.column))


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """The question holds for one of the members that a column names."""

    column: str
    question: Operation

    def of(self, batch: Batch) -> Matrix:
        """Everybody where it does."""
        places, members = batch.numbers(self.column)
        yes = batch.layout.has(batch.of(self.question), places, members)
        return batch.when(np.bincount(places[yes], minlength=batch.rows) > 0)


@dataclass(frozen=True, slots=True, eq=False)
class AtEnds:
    """Holds at one of the ends of edges, of which there are few: known beforehand, and looked up by number."""

    column: str
    ids: Numbers
    """In order."""
    sets: Matrix

    def of(self, batch: Batch) -> Matrix:
        """Those for whom it holds at an end."""
        places, ends = batch.numbers(self.column)
        at = np.minimum(np.searchsorted(self.ids, ends), len(self.ids) - 1)
        known = self.ids[at] == ends
        return folded(batch.rows, places[known], self.sets[at[known]])


@dataclass(slots=True, eq=False)
class Answers:
    """What Spark has found at the ends of edges, of which there are many: the sets of one join, side by side."""

    join: int
    count: int = 0

    def of(self, batch: Batch) -> Matrix:
        """All of them."""
        return batch.answers(self.join, self.count * batch.layout.words)


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """One set of a join."""

    answers: Answers
    place: int

    def of(self, batch: Batch) -> Matrix:
        """Those for whom it holds at an end."""
        words = batch.layout.words
        return batch.of(self.answers)[:, self.place * words : (self.place + 1) * words]
