"""The committed facts of one tenant in memory, at one sequence number and one moment.

One index serves all transactions of a process. It only moves forward; a transaction that still reads an older state
is given a view in which the newest steps are undone.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import RLock

from lakehold.access.facts.changes import Opening
from lakehold.access.facts.loading import AS_JSON, Spanned, fill, row_of, uncollected
from lakehold.access.facts.view import ResourceRow, Row, View
from lakehold.access.model.policy import policy_of
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.database import Transaction
from lakehold.ledger import changes

_JOURNAL = 1_000

Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class _Batch:
    """What changed between two versions, when, and by which number of the log."""

    version: int
    seq: int
    time: Moment
    openings: Sequence[Opening]
    logged: bool
    """Whether it is the log's, or only what time brought."""


class Index(View):
    """Committed facts, and what is already known to begin or end later."""

    def __init__(self, tenant: int, seq: int, at: Moment, fill: Callable[[View], Iterable[Spanned]]) -> None:
        # The models are among the rows: the policy is theirs once all have been read.
        super().__init__(policy_of(()))
        self.tenant = tenant
        self.seq = seq
        self.time = at
        self.lock = RLock()
        self._agenda: list[tuple[Moment, Key]] = []
        self._planned: dict[Key, Spanned] = {}
        self._journal: deque[_Batch] = deque(maxlen=_JOURNAL)
        for span in fill(self):
            self._plan(span, at)
        self.touch()
        self._loaded = _Batch(self.version, seq, at, (), logged=True)

    @classmethod
    def load(cls, transaction: Transaction, tenant: int, at: Moment) -> Index:
        """Read everything that holds, or will."""
        seq = changes.head(transaction, tenant)
        # A clock that lags behind the one that wrote must not hide what was written.
        at = max(at, changes.last_made(transaction, tenant))
        with uncollected():
            return cls(tenant, seq, at, lambda view: fill(view, transaction, tenant, at))

    # Moving forward

    def catch_up(self, transaction: Transaction, at: Moment) -> int:
        """Come to the state that the transaction sees, or past it. Returns the number that it sees."""
        seen, news = changes.since(transaction, self.tenant, self.seq, AS_JSON[transaction.dialect])
        if news:
            self._replay(news, at)
        elif self._agenda and self._agenda[0][0] <= at:
            self._step(self.seq, self._due(at), max(self.time, at), logged=False)
        return seen

    def _replay(self, logged: Sequence[changes.Logged], at: Moment) -> None:
        batches: dict[int, list[changes.Logged]] = {}
        for line in logged:
            batches.setdefault(line.seq, []).append(line)
        for seq, lines in batches.items():
            # A clock that lags behind the one that wrote must not bring back what was closed.
            moment = max(self.time, at, *(line.made_at for line in lines))
            openings = self._due(moment)
            for line in lines:
                row, since = row_of(line.entry.fact, line.beside)
                openings.extend(self._moved(line.entry, row, since, moment))
            self._step(seq, openings, moment, logged=True)

    def _moved(self, entry: changes.Entry, row: Row, since: Moment, moment: Moment) -> Iterable[Opening]:
        key = (entry.fact, entry.fact_id)
        before = since <= moment < entry.was_until
        after = since <= moment < entry.until
        self._planned.pop(key, None)
        if moment < entry.until and (since > moment or entry.until < FOREVER):
            self._plan(Spanned(key, row, since, entry.until), moment)
        if before != after:
            yield after, row
        elif after and isinstance(row, ResourceRow):
            # The same resource by another name.
            yield False, row._replace(name=self.names.get(row.id) or "")
            yield True, row

    def _plan(self, span: Spanned, at: Moment) -> None:
        """Remember what begins or ends after this moment, up to which all is done already."""
        self._planned[span.key] = span
        for moment in (span.since, span.until):
            if at < moment < FOREVER:
                heapq.heappush(self._agenda, (moment, span.key))

    def _due(self, at: Moment) -> list[Opening]:
        """What begins and ends until this moment, by what was planned before."""
        openings: list[Opening] = []
        while self._agenda and self._agenda[0][0] <= at:
            moment, key = heapq.heappop(self._agenda)
            span = self._planned.get(key)
            if span is None:
                continue
            if moment == span.since:
                openings.append((True, span.row))
                # From here on only its end is to come: a second entry for the beginning says nothing.
                self._planned[key] = span._replace(since=-1)
            elif moment == span.until:
                openings.append((False, span.row))
                del self._planned[key]
        return openings

    def _step(self, seq: int, openings: Sequence[Opening], moment: Moment, *, logged: bool) -> None:
        for opens, row in openings:
            (self.open if opens else self.close)(row)
        self.seq, self.time = seq, moment
        self.touch()
        self._journal.append(_Batch(self.version, seq, moment, tuple(openings), logged))

    # Looking back

    def pin(self, seq: int, at: Moment) -> tuple[int, Moment] | None:
        """The version for a transaction that sees this number, and the moment at which it reads: not before what it
        sees was made. None if that is no longer remembered, or was before the index was loaded.
        """
        if seq == self.seq:
            return self.version, max(at, self.time)
        for batch in (*reversed(self._journal), *((self._loaded,) if self.remembers(self._loaded.version) else ())):
            if batch.seq <= seq and (batch.logged or batch.time <= at):
                return batch.version, max(at, batch.time)
        return None

    def remembers(self, version: int) -> bool:
        """Whether all that has changed since this version can be undone."""
        return not self._journal or self._journal[0].version <= version + 1

    def undone_to(self, version: int) -> View:
        """The facts as they were at an earlier version."""
        view = View(self.policy, self)
        for batch in reversed(self._journal):
            if batch.version <= version:
                break
            for opens, row in reversed(batch.openings):
                (view.close if opens else view.open)(row)
        view.touch()
        return view
