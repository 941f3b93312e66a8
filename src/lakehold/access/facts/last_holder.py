"""Roles that must always be held: a tenant without an Owner could never have one again."""

import sqlalchemy as sa

from lakehold.access.facts import tables
from lakehold.access.facts.view import FactRow, FactView, GrantRow
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.database import Transaction
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import quote


def refuse_losing_last_holder(transaction: Transaction, view: FactView, row: FactRow, at: Moment) -> None:
    """Refuse to end a role at a moment, unless somebody else holds it then and without an end.

    The view does not say when a grant ends, so the table is read.
    """
    if not isinstance(row, GrantRow):
        return
    kind = view.kind(row.resource)
    role = view.policy.role(kind, row.role)
    if not role.last_stays:
        return
    c = tables.grant.c
    query = sa.select(c.subject_id, c.until).where(
        c.resource_id == row.resource, c.role == f"{kind}.{row.role}", c.since <= at, c.until > at
    )
    held = transaction.connection.execute(query).all()
    if any(found.subject_id == row.subject for found in held) and not any(
        found.subject_id != row.subject and found.until == FOREVER for found in held
    ):
        raise ConflictError(
            f"{quote(view.uid(row.subject))} is the last {role.title} of {quote(view.uid(row.resource))}.",
            "Give the role to somebody else first, without an end.",
        )
