"""Facts and their log."""

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.columns import EXACT, INTEGER, NUMBER, TEXT, counter, keys, required

revision = "0001"
down_revision = None


def _facts(name: str, *columns: sa.Column) -> None:
    op.create_table(name, counter("id"), *required(tenant_id=NUMBER), *columns, *required(since=NUMBER, until=NUMBER))


def upgrade() -> None:
    """Make the tables."""
    _facts("resource", *required(uid=EXACT, kind=TEXT, workspace_id=NUMBER, name=TEXT, sort_name=EXACT))
    _facts("access_grant", *required(subject_id=NUMBER, role=TEXT, resource_id=NUMBER))
    _facts("access_attribute", *required(resource_id=NUMBER, member_id=NUMBER, name=TEXT, value=TEXT))
    _facts("access_edge", *required(name=TEXT, source_id=NUMBER, target_id=NUMBER))
    _facts("access_model", *required(name=TEXT, source=TEXT))
    op.create_index("resource_uid", "resource", ["tenant_id", "uid"], unique=True)
    op.create_index("resource_sorted", "resource", ["tenant_id", "kind", "sort_name", "id"])
    op.create_index("resource_in_workspace", "resource", ["workspace_id", "kind", "sort_name", "id"])
    for name, table, columns in (
        ("grant_by_subject", "access_grant", ["subject_id", "role", "resource_id"]),
        ("grant_by_resource", "access_grant", ["resource_id", "subject_id", "role"]),
        ("edge_ahead", "access_edge", ["source_id", "name", "target_id"]),
        ("edge_back", "access_edge", ["target_id", "name", "source_id"]),
        ("attribute_of", "access_attribute", ["resource_id", "name", "member_id", "value"]),
        ("attribute_with", "access_attribute", ["name", "value", "resource_id", "member_id"]),
    ):
        op.create_index(name, table, [*columns, "since", "until"])
    op.create_table(
        "change",
        *keys(tenant_id=NUMBER, seq=NUMBER, n=INTEGER),
        *required(made_at=NUMBER, fact=TEXT, fact_id=NUMBER, was_until=NUMBER, until=NUMBER),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute("CREATE SEQUENCE change_seq")
