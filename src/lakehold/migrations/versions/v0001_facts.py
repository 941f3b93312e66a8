"""Facts and their log."""

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.columns import EXACT, NUMBER, required

revision = "0001"
down_revision = None


def _facts(name: str, *columns: sa.Column) -> None:
    op.create_table(
        name,
        sa.Column("id", NUMBER, primary_key=True, autoincrement=True),
        sa.Column("tenant_id", NUMBER, nullable=False),
        *columns,
        sa.Column("since", NUMBER, nullable=False),
        sa.Column("until", NUMBER, nullable=False),
    )


def upgrade() -> None:
    """Make the tables."""
    _facts(
        "resource",
        required("uid", EXACT),
        required("kind", sa.Text()),
        required("workspace_id", NUMBER),
        required("name", sa.Text()),
        required("sort_name", EXACT),
    )
    _facts("access_grant", required("subject_id", NUMBER), required("role", sa.Text()), required("resource_id", NUMBER))
    _facts(
        "access_attribute",
        required("resource_id", NUMBER),
        required("member_id", NUMBER),
        required("name", sa.Text()),
        required("value", sa.Text()),
    )
    _facts("access_edge", required("name", sa.Text()), required("source_id", NUMBER), required("target_id", NUMBER))
    _facts("access_model", required("name", sa.Text()), required("source", sa.Text()))
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
        sa.Column("tenant_id", NUMBER, primary_key=True),
        sa.Column("seq", NUMBER, primary_key=True),
        sa.Column("n", sa.Integer(), primary_key=True),
        sa.Column("made_at", NUMBER, nullable=False),
        sa.Column("fact", sa.Text(), nullable=False),
        sa.Column("fact_id", NUMBER, nullable=False),
        sa.Column("was_until", NUMBER, nullable=False),
        sa.Column("until", NUMBER, nullable=False),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute("CREATE SEQUENCE change_seq")
