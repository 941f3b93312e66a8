"""The index: the committed facts of one tenant in memory, at one sequence number and one moment.

One index serves all transactions of a process. It only moves forward; a transaction that still reads an older state
is given a view in which the newest steps are undone.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from threading import RLock

from lakehold.access.facts.changes import RowChange
from lakehold.access.facts.loader import FACT_AS_JSON, TimedRow, gc_paused, load_into, parse_row
from lakehold.access.facts.view import FactRow, FactView, ResourceRow
from lakehold.access.model.policy import compile_policy
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.database import Transaction
from lakehold.ledger import change_log

_JOURNAL = 1_000

FactKey = tuple[str, int]


@dataclass(frozen=True, slots=True)
class _Batch:
    """The changes between two versions, with their time and their number in the log."""

    version: int
    seq: int
    time: Moment
    openings: Sequence[RowChange]
    logged: bool
    """Whether it is the log's, or only what time brought."""


class FactIndex(FactView):
    """The committed facts, and those that are already known to begin or end later."""

    def __init__(self, tenant: int, seq: int, at: Moment, fill: Callable[[FactView], Iterable[TimedRow]]) -> None:
        # The models are among the rows: the policy is theirs once all have been read.
        super().__init__(compile_policy(()))
        self.tenant = tenant
        self.seq = seq
        self.time = at
        self.lock = RLock()
        self._agenda: list[tuple[Moment, FactKey]] = []
        self._scheduled: dict[FactKey, TimedRow] = {}
        self._journal: deque[_Batch] = deque(maxlen=_JOURNAL)
        for span in fill(self):
            self._schedule(span, at)
        self.touch()
        self._loaded = _Batch(self.version, seq, at, (), logged=True)

    @classmethod
    def load(cls, transaction: Transaction, tenant: int, at: Moment) -> FactIndex:
        """Load the facts that hold now or later."""
        seq = change_log.head_seq(transaction, tenant)
        # A clock that lags behind the one that wrote must not hide what was written.
        at = max(at, change_log.last_change_time(transaction, tenant))
        with gc_paused():
            return cls(tenant, seq, at, lambda view: load_into(view, transaction, tenant, at))

    # Moving forward

    def catch_up(self, transaction: Transaction, at: Moment) -> int:
        """Advance to the state that the transaction sees, or past it. Return the number that it sees."""
        seen, news = change_log.changes_since(transaction, self.tenant, self.seq, FACT_AS_JSON[transaction.dialect])
        if news:
            self._replay(news, at)
        elif self._agenda and self._agenda[0][0] <= at:
            self._step(self.seq, self._due(at), max(self.time, at), logged=False)
        return seen

    def _replay(self, logged: Sequence[change_log.LoggedChange], at: Moment) -> None:
        for seq, of_seq in groupby(logged, key=lambda line: line.seq):
            lines = list(of_seq)
            # A clock that lags behind the one that wrote must not bring back what was closed.
            moment = max(self.time, at, *(line.made_at for line in lines))
            openings = self._due(moment)
            for line in lines:
                row, since = parse_row(line.entry.fact, line.extra)
                openings.extend(self._apply_logged_change(line.entry, row, since, moment))
            self._step(seq, openings, moment, logged=True)

    def _apply_logged_change(
        self, entry: change_log.ChangeLogEntry, row: FactRow, since: Moment, moment: Moment
    ) -> Iterable[RowChange]:
        key = (entry.fact, entry.fact_id)
        before = since <= moment < entry.was_until
        after = since <= moment < entry.until
        self._scheduled.pop(key, None)
        if moment < entry.until and (since > moment or entry.until < FOREVER):
            self._schedule(TimedRow(key, row, since, entry.until), moment)
        if before != after:
            yield after, row
        elif after and isinstance(row, ResourceRow):
            # The same resource by another name.
            yield False, row._replace(name=self.names.get(row.id) or "")
            yield True, row

    def _schedule(self, span: TimedRow, at: Moment) -> None:
        """Schedule what begins or ends after this moment."""
        if span.since >= span.until:
            # Another period has taken its place: it never begins, and so it must not end.
            return
        self._scheduled[span.key] = span
        for moment in (span.since, span.until):
            if at < moment < FOREVER:
                heapq.heappush(self._agenda, (moment, span.key))

    def _due(self, at: Moment) -> list[RowChange]:
        """Return what begins and ends until this moment, by the schedule."""
        openings: list[RowChange] = []
        while self._agenda and self._agenda[0][0] <= at:
            moment, key = heapq.heappop(self._agenda)
            span = self._scheduled.get(key)
            if span is None:
                continue
            if moment == span.since:
                openings.append((True, span.row))
                # From here on only its end is to come: a second entry for the beginning says nothing.
                self._scheduled[key] = span._replace(since=-1)
            elif moment == span.until:
                openings.append((False, span.row))
                del self._scheduled[key]
        return openings

    def _step(self, seq: int, openings: Sequence[RowChange], moment: Moment, *, logged: bool) -> None:
        for opens, row in openings:
            (self.open if opens else self.close)(row)
        self.seq, self.time = seq, moment
        self.touch()
        self._journal.append(_Batch(self.version, seq, moment, tuple(openings), logged))

    # Older versions

    def pin(self, seq: int, at: Moment) -> tuple[int, Moment] | None:
        """Return the version for a transaction that sees this number, and the moment at which it reads: not before what
        it sees was written. None if the journal does not go back that far.
        """
        if seq == self.seq:
            return self.version, max(at, self.time)
        for batch in (*reversed(self._journal), *((self._loaded,) if self.can_undo_to(self._loaded.version) else ())):
            if batch.seq <= seq and (batch.logged or batch.time <= at):
                return batch.version, max(at, batch.time)
        return None

    def can_undo_to(self, version: int) -> bool:
        """Return whether all changes since this version can be undone."""
        return not self._journal or self._journal[0].version <= version + 1

    def view_at_version(self, version: int) -> FactView:
        """Return the facts as they were at an earlier version."""
        view = FactView(self.policy, self)
        for batch in reversed(self._journal):
            if batch.version <= version:
                break
            for opens, row in reversed(batch.openings):
                (view.close if opens else view.open)(row)
        view.touch()
        return view
