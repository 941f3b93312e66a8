"""Lookup of a secret's row, of its tenant and member, and of what an integration's token reaches. This is the one place
where the tenant is not known beforehand.

It is one query inside the transaction of the request: what was revoked, has expired, or belongs to a removed member,
is gone for the very next request.
"""

from __future__ import annotations

from functools import cache

import sqlalchemy as sa

# past the access filter: the tenant and the member are known by the secret of the token, and found here
from lakehold.access.facts.tables import attribute, edge, resource
from lakehold.access.model.policy import MEMBER
from lakehold.directory import secret_tokens
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.database import Transaction

SecretRow = sa.Row[tuple[object, ...]]


def find_row(transaction: Transaction, table: sa.Table, prefix: str, secret: str, at: Moment) -> SecretRow | None:
    """Return the row of this secret, with the ids of its tenant and member; None if it is not valid (any more)."""
    presented = secret_tokens.parse(prefix, secret)
    if presented is None:
        return None
    found = transaction.connection.execute(_query(table), {"secret_id": presented.id, "at": at}).first()
    return found if found is not None and presented.matches(found.hash) else None


@cache
def _query(table: sa.Table) -> sa.Select[tuple[object, ...]]:
    """Build the query once, because building takes longer than running it."""
    member, tenant = resource.alias("m"), resource.alias("t")
    return (
        sa.select(table, member.c.uid.label("member"), tenant.c.uid.label("tenant"))
        .join(tenant, tenant.c.id == table.c.tenant_id)
        .join(member, (member.c.id == table.c.member_id) & (member.c.tenant_id == table.c.tenant_id))
        .where(
            table.c.id == sa.bindparam("secret_id"),
            table.c.until > sa.bindparam("at"),
            member.c.until == FOREVER,
            member.c.kind == MEMBER,
        )
    )


READS, ACTIVE, OFF = "reads", "active", "false"
"""What every kind that is a way in has: an edge to what it reads, and an attribute that says whether it is open. The
name of an edge begins with that of its kind.
"""


def integration_resources(
    transaction: Transaction, tenant: int, integration: int, at: Moment
) -> tuple[str, ...] | None:
    """Return the ids of what the integration reads; None if it is paused or has ended."""
    here, connection = resource.c, transaction.connection
    there = sa.select(here.id).where(here.tenant_id == tenant, here.id == integration, here.until > at)
    if connection.execute(there).first() is None:
        return None
    a = attribute.c
    closed = sa.select(a.id).where(
        a.tenant_id == tenant,
        a.resource_id == integration,
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
        .where(
            e.tenant_id == tenant, e.source_id == integration, e.name.endswith(f".{READS}"), e.since <= at, e.until > at
        )
    )
    return tuple(sorted(connection.execute(query).scalars()))
