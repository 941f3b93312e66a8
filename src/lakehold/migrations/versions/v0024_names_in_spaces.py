"""Names of projects, tasks and connections of data spaces are unique where they lie. Doubles get another name."""

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.versions import v0022_unique_names as unique_names

revision = "0024"
down_revision = "0023"

_IN_PARENT = {"spaces.project": "space", "spaces.task": "project", "spaces.connection": "space"}


def upgrade() -> None:
    op.drop_index("resource_name", "resource")
    resource, edge = unique_names._resource.c, unique_names._edge.c  # noqa: SLF001 - the same rule for more kinds
    for kind, parent in _IN_PARENT.items():
        above = sa.select(sa.func.max(edge.target_id)).where(
            edge.source_id == resource.id,
            edge.name == f"{kind}.{parent}",
            edge.until == unique_names._FOREVER,  # noqa: SLF001
        )
        unique_names._claim(above.scalar_subquery(), kind, resource.kind == kind)  # noqa: SLF001
    unique_names._rename_doubles()  # noqa: SLF001
    op.create_index("resource_name", "resource", ["name_scope", "sort_name"], unique=True)
