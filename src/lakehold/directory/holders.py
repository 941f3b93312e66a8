"""Whose secret is this? The one place where the tenant is not known before the row is: it is what the row tells.

One question to the database, inside the transaction of the request: what was revoked, has ended, or belongs to a
member who was removed, is gone for the very next request.
"""

from __future__ import annotations

from functools import cache

import sqlalchemy as sa

# past the access filter: the tenant and the member are known by the secret, and found here
from lakehold.access.facts.tables import resource
from lakehold.access.model.policy import MEMBER
from lakehold.directory import credentials
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.database import Transaction

Held = sa.Row[tuple[object, ...]]


def of(transaction: Transaction, table: sa.Table, prefix: str, secret: str, at: Moment) -> Held | None:
    """The row of this secret, with the ids of its tenant and its member; None if it is not valid (any more)."""
    given = credentials.read(prefix, secret)
    if given is None:
        return None
    found = transaction.connection.execute(_query(table), {"secret_id": given.id, "at": at}).first()
    return found if found is not None and given.is_kept_as(found.hash) else None


@cache
def _query(table: sa.Table) -> sa.Select[tuple[object, ...]]:
    """Made once: every request asks it, and putting it together takes longer than asking."""
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
