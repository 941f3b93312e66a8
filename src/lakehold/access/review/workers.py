"""The functions that run in Spark's workers: from pieces of columns to rows of the result.

A piece is some rows of one kind's columns, with the answers of joins for them: `piece` as its number, `kind`,
`columns`, and `answers`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lakehold.access.review.member_bits import BitLayout, Matrix, Numbers, to_column, union_rows
from lakehold.access.review.operations import Operation, ReviewBatch

Batches = Iterable[pa.RecordBatch]

_UNFOLDED = 1 << 22
"""How many pairs of member and resource are processed at once, one byte each."""
_PENDING = 1 << 22
"""How many words of answers are held back, to be folded with those of further pieces."""


def read_batches(layout: BitLayout, pieces: Batches) -> Iterator[tuple[str, ReviewBatch]]:
    """Yield every piece, with its kind."""
    for some in pieces:
        kinds, columns, answers = (some.column(name) for name in ("kind", "columns", "answers"))
        for n, kind in enumerate(kinds.to_pylist()):
            read = pa.ipc.open_stream(columns[n].as_buffer()).read_next_batch()
            yield kind, ReviewBatch(layout, read, answers[n].values)


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """A join that takes answers from a kind: its number, the column of the asking rows, and their first piece."""

    join: int
    column: str
    first_piece: int
    operations: Sequence[Operation]


@dataclass(frozen=True, slots=True)
class AnswerWorker:
    """Computes the answers of joins, those of many ends as one: `piece` and `row` of the principal, `join`, `sets`."""

    layout: BitLayout
    requests: Mapping[str, Sequence[AnswerRequest]]

    def __call__(self, pieces: Batches) -> Iterator[pa.RecordBatch]:
        """Yield all answers, once their pieces are read or when they have become many."""
        pending: dict[int, tuple[AnswerRequest, Numbers, Matrix]] = {}
        for kind, batch in read_batches(self.layout, pieces):
            for request in self.requests[kind]:
                places, principals = batch.numbers(request.column)
                sets = np.hstack([batch.evaluate(operation) for operation in request.operations])[places]
                if request.join in pending:
                    _, before, known = pending[request.join]
                    principals, sets = np.concatenate([before, principals]), np.vstack([known, sets])
                pending[request.join] = (request, *_union_by_asker(principals, sets))
                if pending[request.join][2].size > _PENDING:
                    yield self._rows(*pending.pop(request.join))
        yield from (self._rows(*found) for found in pending.values())

    def _rows(self, request: AnswerRequest, principals: Numbers, sets: Matrix) -> pa.RecordBatch:
        pieces, rows = np.divmod(principals, self.layout.rows)
        return pa.record_batch(
            {
                "piece": (pieces + request.first_piece).astype(np.int32),
                "join": np.full(len(rows), request.join, np.int32),
                "row": rows.astype(np.int32),
                "sets": to_column(sets),
            }
        )


def _union_by_asker(principals: Numbers, sets: Matrix) -> tuple[Numbers, Matrix]:
    order = np.argsort(principals, kind="stable")
    found, places = np.unique(principals[order], return_inverse=True)
    return found, union_rows(len(found), places, sets[order])


@dataclass(frozen=True, slots=True)
class ReviewQuestion:
    """An operation with the actions that it decides: as bits and by name."""

    operation: Operation
    bits: int
    actions: Sequence[str]


@dataclass(frozen=True, slots=True)
class CountWorker:
    """Counts the pairs that each action is allowed for: `kind`, `action`, `pairs`."""

    layout: BitLayout
    questions: Mapping[str, Sequence[ReviewQuestion]]

    def __call__(self, pieces: Batches) -> Iterator[pa.RecordBatch]:
        """Yield one row for each action of the kinds that are read."""
        counts: dict[tuple[str, str], int] = {}
        for kind, batch in read_batches(self.layout, pieces):
            for question in self.questions[kind]:
                found = int(np.bitwise_count(batch.evaluate(question.operation)).sum(dtype=np.int64))
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
class PairWorker:
    """Makes one row for each member and resource with anything allowed: `member`, `resource`, `kind`, `actions`."""

    layout: BitLayout
    questions: Mapping[str, Sequence[ReviewQuestion]]

    def __call__(self, pieces: Batches) -> Iterator[pa.RecordBatch]:
        """Yield as many rows at once as a worker has room for."""
        for kind, batch in read_batches(self.layout, pieces):
            ids = batch.column("id").to_numpy()
            questions = self.questions[kind]
            for some, sets in _slices(self.layout, batch, questions):
                places = np.flatnonzero(self.layout.unpack(np.bitwise_or.reduce(sets)))
                actions = np.zeros(len(places), np.int64)
                for question, found in zip(questions, sets, strict=True):
                    actions += self.layout.unpack(found).reshape(-1).take(places) * np.int64(question.bits)
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
class RowWorker:
    """Makes one row for each member, resource and action, by their public ids."""

    layout: BitLayout
    questions: Mapping[str, Sequence[ReviewQuestion]]
    members: pa.Array

    def __call__(self, pieces: Batches) -> Iterator[pa.RecordBatch]:
        """Yield as many rows at once as a worker has room for."""
        for kind, batch in read_batches(self.layout, pieces):
            uids = batch.column("uid")
            questions = self.questions[kind]
            for some, sets in _slices(self.layout, batch, questions):
                for question, found in zip(questions, sets, strict=True):
                    rows, members = np.divmod(np.flatnonzero(self.layout.unpack(found)), self.layout.members)
                    names = {
                        "member": self.members.take(pa.array(members)),
                        "resource": uids[some].take(pa.array(rows)),
                    }
                    for action in question.actions:
                        same = {"kind": pa.repeat(kind, len(rows)), "action": pa.repeat(action, len(rows))}
                        yield pa.record_batch(names | same)


def _slices(
    layout: BitLayout, batch: ReviewBatch, questions: Sequence[ReviewQuestion]
) -> Iterator[tuple[slice, list[Matrix]]]:
    """Yield the allowed actions of a batch, some resources at a time."""
    sets = [batch.evaluate(question.operation) for question in questions]
    step = max(_UNFOLDED // layout.members, 1)
    for start in range(0, batch.rows, step):
        some = slice(start, start + step)
        yield some, [found[some] for found in sets]
