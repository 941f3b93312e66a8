"""The facts in the database. Every row says from when until when it holds; rows are closed, never overwritten."""

from __future__ import annotations

import sqlalchemy as sa

from lakehold.kit.database import Exact, Id, metadata


def _table(name: str, *columns: sa.Column[int] | sa.Column[str]) -> sa.Table:
    return sa.Table(
        name,
        metadata,
        sa.Column("id", Id, primary_key=True, autoincrement=True),
        sa.Column("tenant_id", Id, nullable=False),
        *columns,
        sa.Column("since", Id, nullable=False),
        sa.Column("until", Id, nullable=False),
    )


resource = _table(
    "resource",
    sa.Column("uid", Exact, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("workspace_id", Id, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("sort_name", Exact, nullable=False),
)

grant = _table(
    "access_grant",
    sa.Column("subject_id", Id, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("resource_id", Id, nullable=False),
)

attribute = _table(
    "access_attribute",
    sa.Column("resource_id", Id, nullable=False),
    sa.Column("member_id", Id, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("value", sa.Text, nullable=False),
)

edge = _table(
    "access_edge",
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("source_id", Id, nullable=False),
    sa.Column("target_id", Id, nullable=False),
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
