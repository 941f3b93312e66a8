"""Versions of data products, the state of their matching, and profiles of sources.

Names of what a products project has are unique in it. Doubles get another name.
"""

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.columns import EXACT, NUMBER, TEXT, keys, required
from lakehold.migrations.versions import v0022_unique_names as unique_names

revision = "0027"
down_revision = "0026"

_IN_PROJECT = ("products.source", "products.product", "products.workflow", "products.destination")


def upgrade() -> None:
    _claim_names()
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


def _claim_names() -> None:
    op.drop_index("resource_name", "resource")
    resource, edge = unique_names._resource.c, unique_names._edge.c  # noqa: SLF001 - the same rule for more kinds
    for kind in _IN_PROJECT:
        above = sa.select(sa.func.max(edge.target_id)).where(
            edge.source_id == resource.id,
            edge.name == f"{kind}.project",
            edge.until == unique_names._FOREVER,  # noqa: SLF001
        )
        unique_names._claim(above.scalar_subquery(), kind, resource.kind == kind)  # noqa: SLF001
    unique_names._rename_doubles()  # noqa: SLF001
    op.create_index("resource_name", "resource", ["name_scope", "sort_name"], unique=True)
