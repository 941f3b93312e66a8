"""Facts and their log."""

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.columns import EXACT, INTEGER, NUMBER, TEXT, counter, keys, required

revision = "0001"
down_revision = None


def _facts(name: str, *columns: sa.Column) -> None:
    op.create_table(name, counter("id"), *required(NUMBER, "tenant_id"), *columns, *required(NUMBER, "since", "until"))


def upgrade() -> None:
    """Make the tables."""
    _facts(
        "resource",
        *required(EXACT, "uid"),
        *required(TEXT, "kind"),
        *required(NUMBER, "workspace_id"),
        *required(TEXT, "name"),
        *required(EXACT, "sort_name"),
    )
    _facts("access_grant", *required(NUMBER, "subject_id"), *required(TEXT, "role"), *required(NUMBER, "resource_id"))
    _facts("access_attribute", *required(NUMBER, "resource_id", "member_id"), *required(TEXT, "name", "value"))
    _facts("access_edge", *required(TEXT, "name"), *required(NUMBER, "source_id", "target_id"))
    _facts("access_model", *required(TEXT, "name", "source"))
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
        *keys(NUMBER, "tenant_id", "seq"),
        *keys(INTEGER, "n"),
        *required(NUMBER, "made_at"),
        *required(TEXT, "fact"),
        *required(NUMBER, "fact_id", "was_until", "until"),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute("CREATE SEQUENCE change_seq")
