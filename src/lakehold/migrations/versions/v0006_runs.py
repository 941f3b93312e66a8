"""Background jobs, and workers."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0006"
down_revision = "0005"

_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_exact = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def _column(name: str, kind: sa.types.TypeEngine) -> sa.Column:
    return sa.Column(name, kind, nullable=False)


def upgrade() -> None:
    """Make the tables."""
    op.create_table("worker", sa.Column("id", _exact, primary_key=True), _column("beat", _number))
    op.create_table(
        "job",
        sa.Column("tenant_id", _number, primary_key=True),
        sa.Column("id", _exact, primary_key=True),
        _column("tenant", _exact),
        _column("kind", sa.Text()),
        _column("state", sa.Text()),
        _column("started_by", _exact),
        _column("caller", sa.Text()),
        _column("wanted", sa.Text()),
        _column("tries", sa.Integer()),
        _column("progress", sa.Integer()),
        _column("doing", sa.Text()),
        _column("error", sa.Text()),
        _column("result", sa.Text()),
        _column("rows", _number),
        _column("made_at", _number),
        sa.Column("started_at", _number),
        sa.Column("ended_at", _number),
    )
    op.create_index("job_by_state", "job", ["state", "made_at"])
    op.create_index("job_by_time", "job", ["tenant_id", "made_at"])
