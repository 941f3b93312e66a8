"""Curation of data products: acts, what they are about, uncertain pairs, suggestions and named views."""

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.columns import EXACT, NUMBER, TEXT, keys, required

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "curation_act",
        *keys(tenant_id=NUMBER, resource_id=NUMBER, number=NUMBER),
        *required(kind=EXACT, payload=TEXT, made_by=EXACT, made_at=NUMBER, undone_by=NUMBER),
    )
    op.create_table("curation_subject", *keys(tenant_id=NUMBER, resource_id=NUMBER, subject=EXACT, number=NUMBER))
    op.create_table(
        "curation_pair",
        *keys(tenant_id=NUMBER, resource_id=NUMBER, record_a=EXACT, record_b=EXACT),
        *required(rank=NUMBER, run=EXACT, probability=sa.Float(), value=sa.Float(), entity_a=EXACT, entity_b=EXACT),
        *required(size=NUMBER, state=EXACT, act=NUMBER, assigned_to=EXACT, assigned_at=NUMBER),
    )
    op.create_index("curation_pair_by_rank", "curation_pair", ["tenant_id", "resource_id", "state", "rank"])
    op.create_table(
        "curation_suggestion",
        *keys(tenant_id=NUMBER, resource_id=NUMBER, number=NUMBER),
        *required(entities=TEXT, note=TEXT, state=EXACT, made_by=EXACT, made_at=NUMBER),
        *required(decided_by=EXACT, decided_at=NUMBER, reason=TEXT, act=NUMBER),
    )
    op.create_table(
        "curation_view",
        *keys(tenant_id=NUMBER, resource_id=NUMBER, id=EXACT),
        *required(name=TEXT, folded_name=EXACT, definition=TEXT),
        *required(made_by=EXACT, made_at=NUMBER, changed_by=EXACT, changed_at=NUMBER),
    )
    where = ["tenant_id", "resource_id", "folded_name"]
    op.create_index("curation_view_by_name", "curation_view", where, unique=True)
