"""The tables of facts. Every row has a period in which it holds; rows are closed, never overwritten. The functions read
from them what no view has: grants and group memberships with their periods, past and future ones too.
"""

from collections.abc import Iterable
from typing import NamedTuple

import sqlalchemy as sa

from lakehold.access.model.policy import MEMBER, MEMBER_OF
from lakehold.kit.clock import Moment
from lakehold.kit.database import ExactText, IdType, Transaction, metadata


def _table(name: str, *columns: sa.Column[int] | sa.Column[str]) -> sa.Table:
    return sa.Table(
        name,
        metadata,
        sa.Column("id", IdType, primary_key=True, autoincrement=True),
        sa.Column("tenant_id", IdType, nullable=False),
        *columns,
        sa.Column("since", IdType, nullable=False),
        sa.Column("until", IdType, nullable=False),
    )


resource = _table(
    "resource",
    sa.Column("uid", ExactText, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("workspace_id", IdType, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("sort_name", ExactText, nullable=False),
    # Where nothing else may have the name; null if several may share one, or if it is deleted.
    sa.Column("name_scope", ExactText),
)

grant = _table(
    "access_grant",
    sa.Column("subject_id", IdType, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("resource_id", IdType, nullable=False),
)

attribute = _table(
    "access_attribute",
    sa.Column("resource_id", IdType, nullable=False),
    sa.Column("member_id", IdType, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("value", sa.Text, nullable=False),
)

edge = _table(
    "access_edge",
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("source_id", IdType, nullable=False),
    sa.Column("target_id", IdType, nullable=False),
)

model = _table(
    "access_model",
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
)

# A fact is read by index alone, without its row: the columns that say when it holds come last.
sa.Index("resource_uid", resource.c.tenant_id, resource.c.uid, unique=True)
sa.Index("resource_sorted", resource.c.tenant_id, resource.c.kind, resource.c.sort_name, resource.c.id)
sa.Index("resource_in_workspace", resource.c.workspace_id, resource.c.kind, resource.c.sort_name, resource.c.id)
NAME_INDEX = "resource_name"
sa.Index(NAME_INDEX, resource.c.name_scope, resource.c.sort_name, unique=True)
_WHEN = ("since", "until")


def _covering(table: sa.Table, name: str, *columns: str) -> None:
    sa.Index(name, *(table.c[column] for column in (*columns, *_WHEN)))


_covering(grant, "grant_by_subject", "subject_id", "role", "resource_id")
_covering(grant, "grant_by_resource", "resource_id", "subject_id", "role")
_covering(edge, "edge_ahead", "source_id", "name", "target_id")
_covering(edge, "edge_back", "target_id", "name", "source_id")
_covering(attribute, "attribute_of", "resource_id", "name", "member_id", "value")
_covering(attribute, "attribute_with", "name", "value", "resource_id", "member_id")

TABLES = {"resource": resource, "grant": grant, "attribute": attribute, "edge": edge, "model": model}


class GrantPeriod(NamedTuple):
    """A subject holds a role, from one moment until another."""

    subject: int
    role: str
    resource: int
    since: Moment
    until: Moment


class GroupMembershipPeriod(NamedTuple):
    """A member is in a group, from one moment until another."""

    member: int
    group: int
    since: Moment
    until: Moment


def grants_on(transaction: Transaction, tenant: int, here: int, at: Moment) -> list[GrantPeriod]:
    """Return the grants on a resource that hold or will hold; at the moment 0 all that ever held."""
    return _grant_periods(transaction, tenant, grant.c.resource_id == here, at)


def grants_held_by(transaction: Transaction, tenant: int, subject: int, at: Moment) -> list[GrantPeriod]:
    """Return the grants that a member or group itself holds, or will hold."""
    return _grant_periods(transaction, tenant, grant.c.subject_id == subject, at)


def grants_inside(transaction: Transaction, tenant: int, workspace: int, at: Moment) -> list[GrantPeriod]:
    """Return the grants on a workspace and on everything that lies in it that hold or will hold."""
    within = sa.select(resource.c.id).where(resource.c.workspace_id == workspace, resource.c.until > at)
    return _grant_periods(transaction, tenant, grant.c.resource_id.in_(within), at)


def group_memberships(transaction: Transaction, tenant: int, members: Iterable[int]) -> list[GroupMembershipPeriod]:
    """Return the past, present and future group memberships of these members."""
    c = edge.c
    query = sa.select(c.source_id, c.target_id, c.since, c.until).where(
        c.tenant_id == tenant,
        c.source_id.in_(list(members)),
        c.name == f"{MEMBER}.{MEMBER_OF}",
        c.until > c.since,
    )
    return [GroupMembershipPeriod(*row) for row in transaction.connection.execute(query)]


def _grant_periods(
    transaction: Transaction, tenant: int, which: sa.ColumnElement[bool], at: Moment
) -> list[GrantPeriod]:
    c = grant.c
    query = (
        sa.select(c.subject_id, c.role, c.resource_id, c.since, c.until)
        .where(c.tenant_id == tenant, which, c.until > at, c.until > c.since)
        .order_by(c.id)
    )
    found = transaction.connection.execute(query)
    return [
        GrantPeriod(subject, role.rpartition(".")[2], what, since, until) for subject, role, what, since, until in found
    ]
