"""Versions of data products, the state of their matching, and profiles of sources."""

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
    op.create_table(
        "product_match_state",
        *keys(tenant_id=NUMBER, product_id=NUMBER),
        *required(mark=EXACT, digest=EXACT, records_snapshot=NUMBER, pairs_snapshot=NUMBER, model=TEXT, report=TEXT),
    )
    op.create_table(
        "product_source_profile",
        *keys(tenant_id=NUMBER, source_id=NUMBER),
        *required(made_at=NUMBER, profile=TEXT),
    )
