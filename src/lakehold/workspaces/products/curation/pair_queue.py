"""The queue of uncertain pairs, the one whose answer is worth most first.

The value of an answer is how uncertain the pair is, times how many records its two entities have together: the entropy
of its probability in bits, which is 1 for a probability of 0.5 and 0 for certainty, times the size of the entity that
"same" would make. Pairs within one entity are left out, as an answer would join nothing; so are pairs that an act in
force has decided. A run replaces the queue, and keeps to whom a pair was assigned. The queue is in the metadata
database, so that the server reads it without Spark.
"""

import heapq
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import log2
from typing import Any

import sqlalchemy as sa

from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.workspaces.products.curation import act_log
from lakehold.workspaces.products.curation.acts import ActKind, RecordPair, ordered_pair
from lakehold.workspaces.products.curation.constraints import decided_pairs
from lakehold.workspaces.products.curation.tables import pair_table

MAX_PAIRS = 10_000
"""The most pairs that the queue of a data product has."""
_AT_ONCE = 1_000


class PairState(StrEnum):
    """The state of a pair in the queue."""

    OPEN = "open"
    SAME = "same"
    DIFFERENT = "different"
    SKIPPED = "skipped"


_STATES = {ActKind.SAME: PairState.SAME, ActKind.DIFFERENT: PairState.DIFFERENT, ActKind.SKIP: PairState.SKIPPED}


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """Two records that may be the same, as a run has found them."""

    record_a: str
    record_b: str
    probability: float
    entity_a: str
    entity_b: str
    size: int
    """How many records the two entities have together."""

    @property
    def value(self) -> float:
        """The value of an answer."""
        return _entropy(self.probability) * self.size


@dataclass(frozen=True, slots=True)
class QueuedPair(ScoredPair):
    """A pair in the queue."""

    rank: int
    """Its place in the queue, from 1."""
    run: str
    state: PairState
    act: int
    """The act that decided it; 0 while it is open."""
    assigned_to: str
    """Empty if it is nobody's."""
    assigned_at: Moment


@dataclass(frozen=True, slots=True)
class QueueProgress:
    """The progress of a queue."""

    total: int
    same: int
    different: int
    skipped: int
    open: int
    assigned: int
    """Open ones that are somebody's."""
    mine: int
    """Open ones that are the caller's."""

    @property
    def answered(self) -> int:
        """The number of those that are answered."""
        return self.same + self.different


def replace_queue(ctx: RequestContext, product: str, run: str, rows: Iterable[ScoredPair]) -> int:
    """Replace the queue by the most valuable pairs of a run, and return their number. Called by the run itself."""
    ctx.need_writable()
    here = ctx.view.resource(product)
    decided = decided_pairs(act_log.load_in_force(ctx, product))
    pairs = ctx.rows(pair_table)
    c = pair_table.c
    held = pairs.select(
        c.resource_id == here, c.assigned_to != "", columns=(c.record_a, c.record_b, c.assigned_to, c.assigned_at)
    )
    owners = {(row.record_a, row.record_b): (row.assigned_to, row.assigned_at) for row in held}
    pairs.delete(c.resource_id == here)
    inserts = []
    for rank, each in enumerate(_most_valuable(rows, decided), start=1):
        pair = ordered_pair(each.record_a, each.record_b)
        owner, since = owners.get(pair, ("", 0))
        entities = (each.entity_a, each.entity_b) if pair[0] == each.record_a else (each.entity_b, each.entity_a)
        keys = {"tenant_id": ctx.session.tenant, "resource_id": here, "record_a": pair[0], "record_b": pair[1]}
        said = {"probability": each.probability, "value": each.value, "size": each.size, "rank": rank, "run": run}
        named = {"entity_a": entities[0], "entity_b": entities[1], "assigned_to": owner, "assigned_at": since}
        inserts.append({**keys, **said, **named, "state": PairState.OPEN.value, "act": 0})
    for start in range(0, len(inserts), _AT_ONCE):
        ctx.session.transaction.connection.execute(pair_table.insert(), inserts[start : start + _AT_ONCE])
    return len(inserts)


def next_pairs(
    ctx: RequestContext,
    product: str,
    limit: int,
    *,
    assigned_to: str | None = None,
    state: PairState = PairState.OPEN,
    after: int = 0,
) -> list[QueuedPair]:
    """Return pairs behind a rank: all, those of a member, or with an empty text those of nobody.

    A rank never changes within the queue of a run, so that pages neither repeat nor miss a pair.
    """
    c = pair_table.c
    owner = sa.true() if assigned_to is None else c.assigned_to == assigned_to
    where = (c.resource_id == ctx.view.resource(product), c.state == state.value, c.rank > after, owner)
    return [_pair(row) for row in ctx.rows(pair_table).select(*where, order_by=(c.rank,), limit=limit)]


def count_progress(ctx: RequestContext, product: str) -> QueueProgress:
    """Return how much of the queue is done."""
    c = pair_table.c
    here = (c.tenant_id == ctx.session.tenant, c.resource_id == ctx.view.resource(product))
    query = sa.select(c.state, c.assigned_to, sa.func.count()).where(*here).group_by(c.state, c.assigned_to)
    rows = [tuple(row) for row in ctx.session.transaction.connection.execute(query)]
    by_state = {each: sum(count for state, _, count in rows if state == each) for each in PairState}
    still = [(owner, count) for state, owner, count in rows if state == PairState.OPEN]
    return QueueProgress(
        total=sum(by_state.values()),
        same=by_state[PairState.SAME],
        different=by_state[PairState.DIFFERENT],
        skipped=by_state[PairState.SKIPPED],
        open=by_state[PairState.OPEN],
        assigned=sum(count for owner, count in still if owner),
        mine=sum(count for owner, count in still if owner and owner == ctx.caller.member),
    )


def assign_next(ctx: RequestContext, product: str, member: str, count: int) -> list[QueuedPair]:
    """Assign the next open pairs that are nobody's to a member. The right was checked before."""
    free = next_pairs(ctx, product, count, assigned_to="")
    for some in act_log.in_batches([each.rank for each in free]):
        here = pair_table.c.resource_id == ctx.view.resource(product)
        ctx.rows(pair_table).update(here, pair_table.c.rank.in_(some), assigned_to=member, assigned_at=ctx.at)
    return [
        each for each in next_pairs(ctx, product, MAX_PAIRS, assigned_to=member) if each.rank in {e.rank for e in free}
    ]


def release(ctx: RequestContext, product: str, member: str) -> int:
    """Take a member's open pairs from them, so that they are nobody's; return their number."""
    c = pair_table.c
    here = (c.resource_id == ctx.view.resource(product), c.state == PairState.OPEN.value, c.assigned_to == member)
    return ctx.rows(pair_table).update(*here, assigned_to="", assigned_at=0)


def refresh(ctx: RequestContext, product: str, records: Collection[str]) -> None:
    """Set the states of the pairs between some records to what the acts in force say."""
    found = _pairs_between(ctx, product, records)
    if not found:
        return
    concerned = {each for pair in found for each in (pair.record_a, pair.record_b)}
    decided = decided_pairs(act_log.load_about(ctx, product, concerned))
    c = pair_table.c
    for each in found:
        kind, act = decided.get((each.record_a, each.record_b), (None, 0))
        state = _STATES[kind] if kind else PairState.OPEN
        if (state, act) != (each.state, each.act):
            same = (c.resource_id == ctx.view.resource(product), c.rank == each.rank)
            ctx.rows(pair_table).update(*same, state=state.value, act=act)


def _pairs_between(ctx: RequestContext, product: str, records: Collection[str]) -> list[QueuedPair]:
    c, among = pair_table.c, set(records)
    here, found = c.resource_id == ctx.view.resource(product), list[QueuedPair]()
    for some in act_log.in_batches(sorted(among)):
        rows = ctx.rows(pair_table).select(here, c.record_a.in_(some))
        found += [_pair(row) for row in rows if row.record_b in among]
    return found


def _most_valuable(rows: Iterable[ScoredPair], decided: Collection[RecordPair]) -> Sequence[ScoredPair]:
    """Return the pairs to be asked about, without holding all of them in memory. Ties are in the order of records."""
    open_ones = (
        each
        for each in rows
        if each.entity_a != each.entity_b and ordered_pair(each.record_a, each.record_b) not in decided
    )
    return heapq.nsmallest(
        MAX_PAIRS, open_ones, key=lambda each: (-each.value, ordered_pair(each.record_a, each.record_b))
    )


def _entropy(probability: float) -> float:
    if not 0 < probability < 1:
        return 0.0
    return -probability * log2(probability) - (1 - probability) * log2(1 - probability)


def _pair(row: Any) -> QueuedPair:  # noqa: ANN401 - a row
    return QueuedPair(
        row.record_a,
        row.record_b,
        row.probability,
        row.entity_a,
        row.entity_b,
        row.size,
        row.rank,
        row.run,
        PairState(row.state),
        row.act,
        row.assigned_to,
        row.assigned_at,
    )
