"""What is made of the answers, in Spark's workers: functions from pieces of sheets to rows.

A piece is some rows of one sheet, with what others have been asked for them: `piece` as its number, `kind`, `columns`,
and `answers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lakehold.access.review.bits import Layout, Matrix, Numbers, column, folded
from lakehold.access.review.operations import Batch, Operation

Batches = Iterable[pa.RecordBatch]

_UNFOLDED = 1 << 22
"""How many members and resources are looked at at once, one byte each."""
_PENDING = 1 << 22
"""How many words of answers are held back, to be folded with those of further pieces."""


def batches(layout: Layout, pieces: Batches) -> Iterator[tuple[str, Batch]]:
    """Every piece, with its kind."""
    for some in pieces:
        kinds, columns, answers = (some.column(name) for name in ("kind", "columns", "answers"))
        for n, kind in enumerate(kinds.to_pylist()):
            read = pa.ipc.open_stream(columns[n].as_buffer()).read_next_batch()
            yield kind, Batch(layout, read, answers[n].values)


@dataclass(frozen=True, slots=True)
class Ask:
    """Whoever asks a kind: on which join, in which column, and the first of their pieces."""

    join: int
    column: str
    first: int
    operations: Sequence[Operation]


@dataclass(frozen=True, slots=True)
class Asked:
    """Answers for those who ask, those of many ends as one: `piece` and `row` of the asker, `join`, `sets`."""

    layout: Layout
    asks: Mapping[str, Sequence[Ask]]

    def __call__(self, pieces: Batches) -> Iterator[pa.RecordBatch]:
        """All answers, once their pieces are read or when they have become many."""
        pending: dict[int, tuple[Ask, Numbers, Matrix]] = {}
        for kind, batch in batches(self.layout, pieces):
            for ask in self.asks[kind]:
                places, askers = batch.numbers(ask.column)
                sets = np.hstack([batch.of(operation) for operation in ask.operations])[places]
                if ask.join in pending:
                    _, before, known = pending[ask.join]
                    askers, sets = np.concatenate([before, askers]), np.vstack([known, sets])
                pending[ask.join] = (ask, *_by_asker(askers, sets))
                if pending[ask.join][2].size > _PENDING:
                    yield self._rows(*pending.pop(ask.join))
        yield from (self._rows(*found) for found in pending.values())

    def _rows(self, ask: Ask, askers: Numbers, sets: Matrix) -> pa.RecordBatch:
        pieces, rows = np.divmod(askers, self.layout.rows)
        return pa.record_batch(
            {
                "piece": (pieces + ask.first).astype(np.int32),
                "join": np.full(len(rows), ask.join, np.int32),
                "row": rows.astype(np.int32),
                "sets": column(sets),
            }
        )


def _by_asker(askers: Numbers, sets: Matrix) -> tuple[Numbers, Matrix]:
    order = np.argsort(askers, kind="stable")
    found, places = np.unique(askers[order], return_inverse=True)
    return found, folded(len(found), places, sets[order])


@dataclass(frozen=True, slots=True)
class Question:
    """An operation, with the actions that it answers for: as bits and by name."""

    operation: Operation
    bits: int
    actions: Sequence[str]


@dataclass(frozen=True, slots=True)
class Counts:
    """How many pairs each action is allowed for: `kind`, `action`, `pairs`."""

    layout: Layout
    questions: Mapping[str, Sequence[Question]]

    def __call__(self, pieces: Batches) -> Iterator[pa.RecordBatch]:
        """One row for each action of the kinds that are read."""
        counts: dict[tuple[str, str], int] = {}
        for kind, batch in batches(self.layout, pieces):
            for question in self.questions[kind]:
                found = int(np.bitwise_count(batch.of(question.operation)).sum(dtype=np.int64))
                for action in question.actions:
                    counts[kind, action] = counts.get((kind, action), 0) + found
        yield pa.record_batch(
            {
                "kind": pa.array([kind for kind, _ in counts], pa.string()),
                "action": pa.array([action for _, action in counts], pa.string()),
                "pairs": pa.array(counts.values(), pa.int64()),
            }
        )


@dataclass(frozen=True, slots=True)
class Pairs:
    """One row for each member and resource with anything allowed: `member`, `resource`, `kind`, `actions`."""

    layout: Layout
    questions: Mapping[str, Sequence[Question]]

    def __call__(self, pieces: Batches) -> Iterator[pa.RecordBatch]:
        """As many rows at once as a worker has room for."""
        for kind, batch in batches(self.layout, pieces):
            ids = batch.column("id").to_numpy()
            questions = self.questions[kind]
            for some, sets in _slices(self.layout, batch, questions):
                places = np.flatnonzero(self.layout.unfolded(np.bitwise_or.reduce(sets)))
                actions = np.zeros(len(places), np.int64)
                for question, found in zip(questions, sets, strict=True):
                    actions += self.layout.unfolded(found).reshape(-1).take(places) * np.int64(question.bits)
                rows, members = np.divmod(places, self.layout.members)
                yield pa.record_batch(
                    {
                        "member": members.astype(np.int32),
                        "resource": ids[some][rows],
                        "kind": pa.repeat(kind, len(rows)),
                        "actions": actions,
                    }
                )


@dataclass(frozen=True, slots=True)
class Rows:
    """One row for each member, resource and action, by their public ids: `member`, `resource`, `kind`, `action`."""

    layout: Layout
    questions: Mapping[str, Sequence[Question]]
    members: pa.Array

    def __call__(self, pieces: Batches) -> Iterator[pa.RecordBatch]:
        """As many rows at once as a worker has room for."""
        for kind, batch in batches(self.layout, pieces):
            uids = batch.column("uid")
            questions = self.questions[kind]
            for some, sets in _slices(self.layout, batch, questions):
                for question, found in zip(questions, sets, strict=True):
                    rows, members = np.divmod(np.flatnonzero(self.layout.unfolded(found)), self.layout.members)
                    names = {
                        "member": self.members.take(pa.array(members)),
                        "resource": uids[some].take(pa.array(rows)),
                    }
                    for action in question.actions:
                        same = {"kind": pa.repeat(kind, len(rows)), "action": pa.repeat(action, len(rows))}
                        yield pa.record_batch(names | same)


def _slices(layout: Layout, batch: Batch, questions: Sequence[Question]) -> Iterator[tuple[slice, list[Matrix]]]:
    """What is allowed, some resources at a time."""
    sets = [batch.of(question.operation) for question in questions]
    step = max(_UNFOLDED // layout.members, 1)
    for start in range(0, batch.rows, step):
        some = slice(start, start + step)
        yield some, [found[some] for found in sets]
