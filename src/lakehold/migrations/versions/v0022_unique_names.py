"""Names that SQL or people look up are unique where they do. Doubles get another name; the oldest keeps its own."""

import json
import logging
import re
import unicodedata
from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.columns import EXACT

revision = "0022"
down_revision = "0021"

_log = logging.getLogger("lakehold.names")

_IN_PARENT = {"lakehouse.table": "layer", "lakehouse.volume": "layer"}
"""The kinds whose names are unique in their parent, with the edge that leads to it."""
_IN_WORKSPACE = (
    *("lakehouse.layer", "lakehouse.source", "lakehouse.query", "lakehouse.history", "lakehouse.destination"),
    *("marts.storage", "marts.data_mart", "marts.destination", "marts.report"),
)
_GROUPS = ("tenant.group", "tenant.all_members")
_FOREVER = 2**62
_TABLE_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")

_resource = sa.table(
    "resource",
    *map(
        sa.column,
        ("id", "tenant_id", "uid", "kind", "workspace_id", "name", "sort_name", "name_scope", "since", "until"),
    ),
)
_edge = sa.table("access_edge", *map(sa.column, ("name", "source_id", "target_id", "until")))
_attribute = sa.table("access_attribute", *map(sa.column, ("name", "resource_id", "value", "until")))
_detail = sa.table("detail", *map(sa.column, ("tenant_id", "resource_id", "settings")))


def upgrade() -> None:
    op.add_column("resource", sa.Column("name_scope", EXACT))
    c = _resource.c
    for name, edge in _IN_PARENT.items():
        e = _edge.c
        parent = sa.select(sa.func.max(e.target_id)).where(
            e.source_id == c.id, e.name == f"{name}.{edge}", e.until == _FOREVER
        )
        _claim(parent.scalar_subquery(), name, c.kind == name)
    for name in _IN_WORKSPACE:
        _claim(c.workspace_id, name, c.kind == name)
    _claim(c.tenant_id, "group", c.kind.in_(_GROUPS))
    _claim(c.tenant_id, "workspace", c.workspace_id == c.id, c.kind.not_like("tenant.%"))
    a = _attribute.c
    deleted = sa.select(a.resource_id).where(a.name == "deleted", a.value == "true", a.until == _FOREVER)
    op.execute(_resource.update().where(c.id.in_(deleted)).values(name_scope=None))
    _rename_doubles()
    op.create_index("resource_name", "resource", ["name_scope", "sort_name"], unique=True)


def _claim(where: sa.ColumnElement[int], what: str, *which: sa.ColumnElement[bool]) -> None:
    scope = sa.cast(where, sa.Text()) + f" {what}"
    op.execute(_resource.update().where(_resource.c.until == _FOREVER, *which).values(name_scope=scope))


def _rename_doubles() -> None:
    """Rename all but the oldest of those that share a name, and log which, and what refers to them by it."""
    c, connection = _resource.c, op.get_bind()
    doubles = (
        sa.select(c.name_scope, c.sort_name)
        .where(c.name_scope.is_not(None))
        .group_by(c.name_scope, c.sort_name)
        .having(sa.func.count() > 1)
    )
    for scope, sort_name in connection.execute(doubles.order_by(c.name_scope, c.sort_name)).all():
        taken = set(connection.execute(sa.select(c.sort_name).where(c.name_scope == scope)).scalars())
        same = sa.select(c.id, c.tenant_id, c.uid, c.kind, c.name).where(
            c.name_scope == scope, c.sort_name == sort_name
        )
        for number, tenant, uid, kind, name in connection.execute(same.order_by(c.since, c.id)).all()[1:]:
            new = _free_name(name, taken)
            taken.add(_fold(new))
            renamed = _resource.update().where(c.id == number).values(name=new, sort_name=_fold(new))
            connection.execute(renamed)
            _log.warning("renamed the %s %s from %r to %r: another one has its name", kind, uid, name, new)
            for reader in _readers(tenant, name):
                _log.warning("the settings of %s name %r; check which of them they mean", reader, name)


def _readers(tenant: int, name: str) -> Iterator[str]:
    """Yield the ids of what refers to a name in its SQL."""
    d, r = _detail.c, _resource.c
    stored = (
        sa.select(r.uid, d.settings)
        .join_from(_detail, _resource, (r.tenant_id == d.tenant_id) & (r.id == d.resource_id))
        .where(d.tenant_id == tenant, r.until == _FOREVER, d.settings.like('%"sql"%'))
    )
    word = re.compile(rf"(?<!\w){re.escape(_fold(name))}(?!\w)")
    for uid, settings in op.get_bind().execute(stored.order_by(r.id)).all():
        if word.search(_fold(json.dumps(json.loads(settings), ensure_ascii=False))):
            yield uid


def _free_name(name: str, taken: set[str]) -> str:
    separator, longest = ("_", 63) if _TABLE_NAME.fullmatch(name) else (" ", 200)
    number = 2
    while True:
        ending = f"{separator}{number}"
        found = f"{name[: longest - len(ending)].rstrip()}{ending}"
        if _fold(found) not in taken:
            return found
        number += 1


def _fold(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
