"""A token that is the way in of something: it reaches what that reads at this moment, and nothing while that pauses or
once it has ended.
"""

from __future__ import annotations

import sqlalchemy as sa

# past the access filter: whose token it is is not known yet; what they may read is asked behind this
from lakehold.access.facts.tables import attribute, edge, resource
from lakehold.kit.clock import Moment
from lakehold.kit.database import Transaction

READS, ACTIVE, OFF = "reads", "active", "false"
"""What every kind that is a way in has: an edge to what it reads, and an attribute that says whether it is open. The
name of an edge begins with that of its kind.
"""


def reached(transaction: Transaction, tenant: int, through: int, at: Moment) -> tuple[str, ...] | None:
    """The ids of what it reads; None if it is closed."""
    here, connection = resource.c, transaction.connection
    there = sa.select(here.id).where(here.tenant_id == tenant, here.id == through, here.until > at)
    if connection.execute(there).first() is None:
        return None
    a = attribute.c
    closed = sa.select(a.id).where(
        a.tenant_id == tenant,
        a.resource_id == through,
        a.name == ACTIVE,
        a.value == OFF,
        a.since <= at,
        a.until > at,
    )
    if connection.execute(closed).first() is not None:
        return None
    e = edge.c
    query = (
        sa.select(here.uid)
        .join(edge, e.target_id == here.id)
        .where(e.tenant_id == tenant, e.source_id == through, e.name.endswith(f".{READS}"), e.since <= at, e.until > at)
    )
    return tuple(sorted(connection.execute(query).scalars()))
