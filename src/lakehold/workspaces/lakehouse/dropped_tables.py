"""Dropped tables: their rows are retained for some days and can be restored as a table of the same name.

Whoever could delete a table then, and may create one in its layer now, may restore it. It gets a new id, its
description, and the rights of its layer. Grants on the old table ended with it; they are listed, so that they can be
granted again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import sqlalchemy as sa

from lakehold import workspaces
from lakehold.access.facts import tables

# past the access filter: deleted tables are in no list; who could delete one is decided by the facts of then
from lakehold.access.facts.tables import resource
from lakehold.catalog import kinds, resource_metadata, resources
from lakehold.catalog.resource_metadata import ResourceMetadata
from lakehold.directory import tenants
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, FOREVER, Moment
from lakehold.kit.errors import ConflictError, NotFoundError
from lakehold.kit.ids import fold_name, quote
from lakehold.lake.iceberg_catalog import IcebergCatalog, TableIdentifier
from lakehold.runs.runnable import RunOptions
from lakehold.runs.service import Run, Runs
from lakehold.workspaces.graph import edge_sources
from lakehold.workspaces.lakehouse.pipelines.base import TABLE_KIND
from lakehold.workspaces.lakehouse.pipelines.tables import MAINTENANCE_PARAMETER, RESTORE
from lakehold.workspaces.registry import readable_kinds

_MAX_LISTED, _MAX_CANDIDATES = 50, 1_000
"""How many tables are listed, and how many are examined: for each, who could delete it then is computed."""


class _DeletedResource(NamedTuple):
    """A deleted resource."""

    id: int
    uid: str
    name: str
    until: Moment


@dataclass(frozen=True, slots=True)
class RestorableTable:
    """A dropped table whose rows are retained."""

    number: int
    uid: str
    name: str
    layer: str
    dropped_at: Moment
    grants: tuple[tuple[str, str], ...] = ()
    """Who held which level on the table itself, of those who are still here."""


def dropped_tables(ctx: RequestContext, lake: IcebergCatalog, within: str = "") -> list[RestorableTable]:
    """Return the tables that the caller may restore, newest first: of all lakehouses, or of one."""
    found = (_restorable(ctx, row) for row in _deleted_resources(ctx, lake)[:_MAX_CANDIDATES])
    seen = (each for each in found if each is not None)
    inside = (each for each in seen if not within or kinds.workspace_of(ctx.view, each.layer) == within)
    return list(islice(inside, _MAX_LISTED))


def restore_table(ctx: RequestContext, lake: IcebergCatalog, uid: str, name: str = "") -> tuple[str, Run]:
    """Create the table again and start a run that brings its rows back."""
    ctx.need_writable()
    row = next((each for each in _deleted_resources(ctx, lake) if each.uid == uid), None)
    found = None if row is None else _restorable(ctx, row)
    if found is None:
        raise NotFoundError(
            f"There is no deleted table {quote(uid)}.", "Its rows may be gone by now; look in the list."
        )
    new_name = name or found.name
    if fold_name(new_name) in {fold_name(each) for each in _table_names(ctx, found.layer)}:
        raise ConflictError(
            f"There is a table {quote(new_name)} in the layer already.", "Restore it under another name."
        )
    about = resource_metadata.load_many(ctx, [found.number]).get(found.number, ResourceMetadata()).description
    made = resources.create(ctx, TABLE_KIND, new_name, edges={"layer": found.layer}, description=about)
    parameters = {MAINTENANCE_PARAMETER: RESTORE, "number": found.number}
    return made, Runs(workspaces.runnables()).start(ctx, made, RunOptions(parameters=parameters))


def expired_places(platform: Platform) -> list[TableIdentifier]:
    """Return the places of tables and data marts, in all tenants, that were deleted so long ago that their
    rows may go too.
    """
    lake, found = IcebergCatalog(platform.settings), list[TableIdentifier]()
    until = platform.clock() - platform.settings.dropped_days * DAY
    try:
        for tenant in tenants.list_all(platform):
            with platform.read(Caller(tenant.uid, "", address="worker")) as ctx:
                old = (row for row in _deleted_resources(ctx, lake, readable_kinds()) if row.until < until)
                found += [TableIdentifier(ctx.session.tenant, row.id) for row in old]
    finally:
        lake.close()
    return found


def _deleted_resources(
    ctx: RequestContext, lake: IcebergCatalog, kind_ids: Collection[str] = (TABLE_KIND,)
) -> list[_DeletedResource]:
    """Return the deleted resources of these kinds whose rows are retained, newest first."""
    uids = ctx.view.uids
    numbers = [place.number for place in lake.list_tables(ctx.session.tenant) if uids.get(place.number) is None]
    c = resource.c
    found: list[_DeletedResource] = []
    for start in range(0, len(numbers), 500):
        some = sa.and_(c.tenant_id == ctx.session.tenant, c.id.in_(numbers[start : start + 500]), c.until < FOREVER)
        query = sa.select(c.id, c.uid, c.name, c.until).where(some, c.kind.in_(kind_ids))
        found += [_DeletedResource(*row) for row in ctx.session.transaction.connection.execute(query)]
    return sorted(found, key=lambda row: -row.until)


def _restorable(ctx: RequestContext, row: _DeletedResource) -> RestorableTable | None:
    """Return the table if the caller could delete it then and may create one in its layer now."""
    then = ctx.session.as_of(row.until - 1)
    if not then.check(ctx.principal, "delete", row.uid):
        return None
    layer = next(
        iter(then.read_view(lambda view: [view.uid(end) for end in view.edges_out["layer"].get(row.id) or ()])), ""
    )
    if ctx.view.ids.get(layer) is None or not ctx.session.check(ctx.principal, "create_table", layer):
        return None
    return RestorableTable(row.id, row.uid, row.name, layer, row.until, _former_grants(ctx, row))


def _former_grants(ctx: RequestContext, row: _DeletedResource) -> tuple[tuple[str, str], ...]:
    found = tables.grants_on(ctx.session.transaction, ctx.session.tenant, row.id, row.until - 1)
    there = [(ctx.view.uids.get(each.subject), each.role) for each in found if each.since < row.until]
    return tuple(sorted((subject, role) for subject, role in there if subject is not None))


def _table_names(ctx: RequestContext, layer: str) -> Iterator[str]:
    for each in edge_sources(ctx, layer, "layer"):
        yield ctx.view.names.get(ctx.view.resource(each)) or ""
