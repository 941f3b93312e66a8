"""Facts and their log."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0001"
down_revision = None

_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_exact = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def _facts(name: str, *columns: sa.Column) -> None:
    op.create_table(
        name,
        sa.Column("id", _number, primary_key=True, autoincrement=True),
        sa.Column("tenant_id", _number, nullable=False),
        *columns,
        sa.Column("since", _number, nullable=False),
        sa.Column("until", _number, nullable=False),
    )


def _column(name: str, kind: sa.types.TypeEngine) -> sa.Column:
    return sa.Column(name, kind, nullable=False)


def upgrade() -> None:
    """Make the tables."""
    _facts(
        "resource",
        _column("uid", _exact),
        _column("kind", sa.Text()),
        _column("workspace_id", _number),
        _column("name", sa.Text()),
        _column("sort_name", _exact),
    )
    _facts("access_grant", _column("subject_id", _number), _column("role", sa.Text()), _column("resource_id", _number))
    _facts(
        "access_attribute",
        _column("resource_id", _number),
        _column("member_id", _number),
        _column("name", sa.Text()),
        _column("value", sa.Text()),
    )
    _facts("access_edge", _column("name", sa.Text()), _column("source_id", _number), _column("target_id", _number))
    _facts("access_model", _column("name", sa.Text()), _column("source", sa.Text()))
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
        sa.Column("tenant_id", _number, primary_key=True),
        sa.Column("seq", _number, primary_key=True),
        sa.Column("n", sa.Integer(), primary_key=True),
        sa.Column("made_at", _number, nullable=False),
        sa.Column("fact", sa.Text(), nullable=False),
        sa.Column("fact_id", _number, nullable=False),
        sa.Column("was_until", _number, nullable=False),
        sa.Column("until", _number, nullable=False),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute("CREATE SEQUENCE change_seq")
