"""The author of a definition: who last changed settings or edges, apart from who last edited anything."""

import json

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.columns import NUMBER

revision = "0018"
down_revision = "0017"

_detail = sa.table(
    "detail",
    *map(
        sa.column,
        ("tenant_id", "resource_id", "settings", "updated_by", "updated_at", "saved_as", "author", "authored_at"),
    ),
)
_resource = sa.table("resource", *map(sa.column, ("tenant_id", "id", "uid", "kind", "until")))
_edge = sa.table("access_edge", *map(sa.column, ("tenant_id", "name", "source_id", "target_id", "since", "until")))


def upgrade() -> None:
    op.add_column("detail", sa.Column("author", sa.Text()))
    op.add_column("detail", sa.Column("authored_at", NUMBER))
    # Nothing else is known of earlier edits: the last editor counts as the author.
    c = _detail.c
    known = _detail.update().where(c.updated_by != "")
    op.execute(known.values(author=c.saved_as, authored_at=c.updated_at))
    some = sa.select(c.updated_by).where(c.updated_by != "", c.saved_as.is_(None)).distinct()
    for member in op.get_bind().execute(some).scalars().all():
        stored = json.dumps({"member": member})
        op.execute(_detail.update().where(c.updated_by == member, c.saved_as.is_(None)).values(author=stored))
    op.drop_column("detail", "saved_as")
    _link_volumes()


def _link_volumes() -> None:
    """Link sources to the volumes that their settings name."""
    d, s, v = _detail.c, _resource.alias("s"), _resource.alias("v")
    sources = (
        sa.select(d.tenant_id, d.resource_id, d.settings, d.updated_at, s.c.until)
        .join_from(_detail, s, (s.c.tenant_id == d.tenant_id) & (s.c.id == d.resource_id))
        .where(s.c.kind == "lakehouse.source", d.settings.like('%"volume"%'))
    )
    for tenant, source, settings, at, until in op.get_bind().execute(sources).all():
        uid = json.loads(settings).get("volume")
        volume = sa.select(v.c.id, v.c.until).where(
            v.c.tenant_id == tenant, v.c.uid == uid, v.c.kind == "lakehouse.volume"
        )
        found = op.get_bind().execute(volume).first()
        if found is None or at is None:
            continue
        values = {"tenant_id": tenant, "name": "lakehouse.source.reads", "source_id": source, "target_id": found.id}
        op.execute(_edge.insert().values(**values, since=at, until=min(until, found.until)))
