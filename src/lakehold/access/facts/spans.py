"""Grants with the time for which they were given, those too that have not begun; and when members were in groups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import sqlalchemy as sa

from lakehold.access.facts.tables import edge, grant, resource
from lakehold.access.model.policy import MEMBER, MEMBER_OF
from lakehold.kit.clock import Moment
from lakehold.kit.database import Transaction


class Span(NamedTuple):
    """A subject holds a role, from one moment until another."""

    subject: int
    role: str
    resource: int
    since: Moment
    until: Moment


class Stay(NamedTuple):
    """A member is in a group, from one moment until another."""

    member: int
    group: int
    since: Moment
    until: Moment


def on(transaction: Transaction, tenant: int, here: int, at: Moment) -> list[Span]:
    """What is held on a resource, or will be; at the moment 0: whatever was held there."""
    return _spans(transaction, tenant, grant.c.resource_id == here, at)


def held(transaction: Transaction, tenant: int, subject: int, at: Moment) -> list[Span]:
    """What a member or group itself holds, or will."""
    return _spans(transaction, tenant, grant.c.subject_id == subject, at)


def inside(transaction: Transaction, tenant: int, workspace: int, at: Moment) -> list[Span]:
    """What is held on a workspace and on everything that lies in it, or will be."""
    within = sa.select(resource.c.id).where(resource.c.workspace_id == workspace, resource.c.until > at)
    return _spans(transaction, tenant, grant.c.resource_id.in_(within), at)


def stays(transaction: Transaction, tenant: int, members: Iterable[int]) -> list[Stay]:
    """When these members were in which groups, are now or will be."""
    c = edge.c
    query = sa.select(c.source_id, c.target_id, c.since, c.until).where(
        c.tenant_id == tenant,
        c.source_id.in_(list(members)),
        c.name == f"{MEMBER}.{MEMBER_OF}",
        c.until > c.since,
    )
    return [Stay(*row) for row in transaction.connection.execute(query)]


def _spans(transaction: Transaction, tenant: int, which: sa.ColumnElement[bool], at: Moment) -> list[Span]:
    c = grant.c
    query = (
        sa.select(c.subject_id, c.role, c.resource_id, c.since, c.until)
        .where(c.tenant_id == tenant, which, c.until > at, c.until > c.since)
        .order_by(c.id)
    )
    found = transaction.connection.execute(query)
    return [Span(subject, role.rpartition(".")[2], what, since, until) for subject, role, what, since, until in found]
