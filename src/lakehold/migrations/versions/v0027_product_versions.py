"""Versions of data products: the snapshots that belong together, and which one is published."""

from alembic import op

from lakehold.migrations.columns import EXACT, NUMBER, TEXT, keys, required

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    op.create_table(
        "product_version",
        *keys(tenant_id=NUMBER, product_id=NUMBER, number=NUMBER),
        *required(run=EXACT, made_at=NUMBER, snapshots=TEXT, counts=TEXT, published_at=NUMBER, published_by=EXACT),
    )
