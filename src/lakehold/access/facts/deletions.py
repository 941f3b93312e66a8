"""Facts that ended with a deleted resource, as the change log tells them: what its restoration begins again."""

from typing import NamedTuple

import sqlalchemy as sa

from lakehold.access.facts import tables
from lakehold.access.facts.loader import to_row
from lakehold.access.facts.view import AttributeRow, EdgeRow, FactRow, GrantRow
from lakehold.kit.clock import Moment
from lakehold.kit.database import Transaction
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote
from lakehold.ledger.change_log import change_table


class EndedFact(NamedTuple):
    """A fact that a deletion ended, and the period in which it would hold without it."""

    row: FactRow
    since: Moment
    until: Moment


class Deletion(NamedTuple):
    """A deleted resource, with the facts that ended with it."""

    number: int
    uid: str
    kind: str
    name: str
    at: Moment
    facts: tuple[EndedFact, ...]


def load_deletion(transaction: Transaction, tenant: int, uid: str, at: Moment) -> Deletion:
    """Return the deletion of a resource, or refuse if nothing of this id is deleted."""
    c = tables.resource.c
    query = sa.select(c.id, c.kind, c.name, c.until).where(c.tenant_id == tenant, c.uid == uid, c.until <= at)
    found = transaction.connection.execute(query).first()
    if found is None:
        raise NotFoundError(f"There is no deleted resource {quote(uid)}.", "Check the ID.")
    facts = tuple(_ended_facts(transaction, tenant, found.id, found.until))
    return Deletion(found.id, uid, found.kind, found.name, found.until, facts)


def _ended_facts(transaction: Transaction, tenant: int, number: int, at: Moment) -> list[EndedFact]:
    """Return the facts about the resource that ended in the transaction that deleted it."""
    log = change_table.c
    mine = sa.and_(log.tenant_id == tenant, log.until == at)
    seq = sa.select(sa.func.max(log.seq)).where(mine, log.fact == "resource", log.fact_id == number)
    query = sa.select(log.fact, log.fact_id, log.was_until).where(mine, log.seq == seq.scalar_subquery())
    found: list[EndedFact] = []
    for fact, fact_id, was_until in transaction.connection.execute(query.order_by(log.n)).all():
        table = tables.TABLES[fact]
        stored = transaction.connection.execute(sa.select(table).where(table.c.id == fact_id)).mappings().one()
        row = to_row(fact, stored)
        if was_until > at and number in _mentioned(row):
            found.append(EndedFact(row, stored["since"], was_until))
    return found


def _mentioned(row: FactRow) -> tuple[int, ...]:
    match row:
        case GrantRow(subject, _, resource):
            return subject, resource
        case EdgeRow(_, source, target):
            return source, target
        case AttributeRow(resource, member):
            return resource, member
        case _:
            return ()


def has_new_edge(transaction: Transaction, kind: str, edge: EdgeRow, since: Moment) -> bool:
    """Return whether the source of an edge has got an edge of the same name, and not had before, since a moment."""
    c, older = tables.edge.c, tables.edge.alias("older")
    same = sa.and_(older.c.name == c.name, older.c.source_id == c.source_id, older.c.target_id == c.target_id)
    before = sa.select(older.c.id).where(same, older.c.since <= since)
    query = sa.select(c.id).where(
        c.name == f"{kind}.{edge.name}", c.source_id == edge.source, c.since > since, ~sa.exists(before)
    )
    return transaction.connection.execute(query.limit(1)).first() is not None
