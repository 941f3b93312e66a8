"""Runs of pipelines with their steps and logs, and triggers."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0009"
down_revision = "0008"

_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_exact = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def _column(name: str, kind: sa.types.TypeEngine) -> sa.Column:
    return sa.Column(name, kind, nullable=False)


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "run",
        sa.Column("n", _number, primary_key=True, autoincrement=True),
        _column("tenant_id", _number),
        _column("id", _exact),
        _column("tenant", _exact),
        _column("resource_id", _number),
        _column("workspace_id", _number),
        _column("kind", sa.Text()),
        _column("state", sa.Text()),
        _column("cause", sa.Text()),
        _column("started_by", _exact),
        _column("caller", sa.Text()),
        _column("wanted", sa.Text()),
        _column("tries", sa.Integer()),
        _column("error", sa.Text()),
        _column("made_at", _number),
        sa.Column("started_at", _number),
        sa.Column("ended_at", _number),
    )
    op.create_index("run_by_id", "run", ["tenant_id", "id"], unique=True)
    op.create_index("run_by_state", "run", ["state", "n"])
    op.create_index("run_by_resource", "run", ["tenant_id", "resource_id", "n"])
    op.create_table(
        "run_output",
        sa.Column("tenant_id", _number, primary_key=True),
        sa.Column("run", _number, primary_key=True),
        sa.Column("resource_id", _number, primary_key=True),
    )
    op.create_index("run_output_by_resource", "run_output", ["tenant_id", "resource_id"])
    op.create_table(
        "run_step",
        sa.Column("run", _number, primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True),
        _column("tenant_id", _number),
        _column("name", sa.Text()),
        _column("state", sa.Text()),
        _column("rows", _number),
        _column("size", _number),
        _column("bad", _number),
        _column("told", sa.Text()),
        _column("begun", sa.Integer()),
        _column("error", sa.Text()),
        sa.Column("started_at", _number),
        sa.Column("ended_at", _number),
    )
    op.create_table(
        "run_log",
        sa.Column("n", _number, primary_key=True, autoincrement=True),
        _column("tenant_id", _number),
        _column("run", _number),
        _column("step", sa.Integer()),
        _column("at", _number),
        _column("level", sa.Text()),
        _column("text", sa.Text()),
    )
    op.create_index("run_log_by_run", "run_log", ["run", "n"])
    op.create_table(
        "run_trigger",
        sa.Column("tenant_id", _number, primary_key=True),
        sa.Column("id", _exact, primary_key=True),
        _column("tenant", _exact),
        _column("resource_id", _number),
        _column("settings", sa.Text()),
        _column("caller", sa.Text()),
        _column("saved_by", _exact),
        _column("saved_at", _number),
        _column("active", sa.Boolean()),
        _column("heard", sa.Text()),
        sa.Column("next_at", _number),
        sa.Column("last_at", _number),
    )
    op.create_index("run_trigger_due", "run_trigger", ["active", "next_at"])
    op.create_index("run_trigger_by_resource", "run_trigger", ["tenant_id", "resource_id"])
