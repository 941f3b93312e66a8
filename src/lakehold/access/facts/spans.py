"""Grants with the time for which they were given, those too that have not begun."""

from __future__ import annotations

from typing import NamedTuple

import sqlalchemy as sa

from lakehold.access.facts.tables import grant
from lakehold.kit.clock import Moment
from lakehold.kit.database import Transaction


class Span(NamedTuple):
    """A subject holds a role, from one moment until another."""

    subject: int
    role: str
    resource: int
    since: Moment
    until: Moment


def on(transaction: Transaction, tenant: int, resource: int, at: Moment) -> list[Span]:
    """What is held on a resource, or will be."""
    return _spans(transaction, tenant, grant.c.resource_id == resource, at)


def held(transaction: Transaction, tenant: int, subject: int, at: Moment) -> list[Span]:
    """What a member or group itself holds, or will."""
    return _spans(transaction, tenant, grant.c.subject_id == subject, at)


def _spans(transaction: Transaction, tenant: int, which: sa.ColumnElement[bool], at: Moment) -> list[Span]:
    c = grant.c
    query = (
        sa.select(c.subject_id, c.role, c.resource_id, c.since, c.until)
        .where(c.tenant_id == tenant, which, c.until > at, c.until > c.since)
        .order_by(c.id)
    )
    found = transaction.connection.execute(query)
    return [
        Span(subject, role.rpartition(".")[2], resource, since, until)
        for subject, role, resource, since, until in found
    ]
