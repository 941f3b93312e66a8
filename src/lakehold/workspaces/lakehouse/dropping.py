"""Tables that were deleted: their rows stay for some days, and come back as a table of the same name.

Whoever could delete it then, and may make a table in its layer now, may restore it. It has a new id, its description,
and the rights that its layer gives. What was granted on the old one itself ended with it; who held it is told, so that
it can be granted anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import sqlalchemy as sa

from lakehold import workspaces
from lakehold.access.facts import tables

# past the access filter: what is deleted is in no list; who could delete it is asked of the facts of then
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
from lakehold.lake.readable_tables import READABLE
from lakehold.runs.runnable import RunOptions
from lakehold.runs.runs import Run, Runs
from lakehold.workspaces.ends import starts
from lakehold.workspaces.lakehouse.pipelines.pipeline import TABLE
from lakehold.workspaces.lakehouse.pipelines.upkeep import DO, RESTORE

_MOST, _LOOKED_AT = 50, 1_000
"""How many are told of, and among how many they are looked for: of each, it is asked who could delete it then."""


class _Ended(NamedTuple):
    """What is known of a resource that is no more."""

    id: int
    uid: str
    name: str
    until: Moment


@dataclass(frozen=True, slots=True)
class Dropped:
    """A table that was deleted, and whose rows are there."""

    number: int
    uid: str
    name: str
    layer: str
    dropped_at: Moment
    held: tuple[tuple[str, str], ...] = ()
    """Who held which level on the table itself, of those who are still here."""


def dropped(ctx: RequestContext, lake: IcebergCatalog, within: str = "") -> list[Dropped]:
    """Those that the caller may restore, of the last that were deleted, the newest first: in all lakehouses, or one."""
    found = (_seen(ctx, row) for row in _ended(ctx, lake)[:_LOOKED_AT])
    seen = (each for each in found if each is not None)
    inside = (each for each in seen if not within or kinds.workspace_of(ctx.view, each.layer) == within)
    return list(islice(inside, _MOST))


def restore(ctx: RequestContext, lake: IcebergCatalog, uid: str, name: str = "") -> tuple[str, Run]:
    """Make the table anew, and let a run bring its rows back."""
    ctx.need_writable()
    row = next((each for each in _ended(ctx, lake) if each.uid == uid), None)
    found = None if row is None else _seen(ctx, row)
    if found is None:
        raise NotFoundError(
            f"There is no deleted table {quote(uid)}.", "Its rows may be gone by now; look in the list."
        )
    wanted = name or found.name
    if fold_name(wanted) in {fold_name(each) for each in _names(ctx, found.layer)}:
        raise ConflictError(f"There is a table {quote(wanted)} in the layer already.", "Restore it under another name.")
    about = resource_metadata.load_many(ctx, [found.number]).get(found.number, ResourceMetadata()).description
    made = resources.create(ctx, TABLE, wanted, edges={"layer": found.layer}, description=about)
    told = {DO: RESTORE, "number": found.number}
    return made, Runs(workspaces.runnables()).start(ctx, made, RunOptions(parameters=told))


def gone(platform: Platform) -> list[TableIdentifier]:
    """What was deleted so long ago that its rows may go too, in all tenants: tables, and data marts."""
    lake, found = IcebergCatalog(platform.settings), list[TableIdentifier]()
    until = platform.clock() - platform.settings.dropped_days * DAY
    try:
        for tenant in tenants.list_all(platform):
            with platform.read(Caller(tenant.uid, "", address="worker")) as ctx:
                old = (row for row in _ended(ctx, lake, READABLE) if row.until < until)
                found += [TableIdentifier(ctx.session.tenant, row.id) for row in old]
    finally:
        lake.close()
    return found


def _ended(ctx: RequestContext, lake: IcebergCatalog, of: Collection[str] = (TABLE,)) -> list[_Ended]:
    """What ended of these kinds and whose rows are there, the last first."""
    uids = ctx.view.uids
    numbers = [place.number for place in lake.list_tables(ctx.session.tenant) if uids.get(place.number) is None]
    c = resource.c
    found: list[_Ended] = []
    for start in range(0, len(numbers), 500):
        some = sa.and_(c.tenant_id == ctx.session.tenant, c.id.in_(numbers[start : start + 500]), c.until < FOREVER)
        query = sa.select(c.id, c.uid, c.name, c.until).where(some, c.kind.in_(of))
        found += [_Ended(*row) for row in ctx.session.transaction.connection.execute(query)]
    return sorted(found, key=lambda row: -row.until)


def _seen(ctx: RequestContext, row: _Ended) -> Dropped | None:
    """The table, if the caller could delete it then and may make one in its layer now."""
    then = ctx.session.as_of(row.until - 1)
    if not then.check(ctx.asker, "delete", row.uid):
        return None
    layer = next(
        iter(then.read_view(lambda view: [view.uid(end) for end in view.edges_out["layer"].get(row.id) or ()])), ""
    )
    if ctx.view.ids.get(layer) is None or not ctx.session.check(ctx.asker, "create_table", layer):
        return None
    return Dropped(row.id, row.uid, row.name, layer, row.until, _held(ctx, row))


def _held(ctx: RequestContext, row: _Ended) -> tuple[tuple[str, str], ...]:
    found = tables.grants_on(ctx.session.transaction, ctx.session.tenant, row.id, row.until - 1)
    there = [(ctx.view.uids.get(each.subject), each.role) for each in found if each.since < row.until]
    return tuple(sorted((subject, role) for subject, role in there if subject is not None))


def _names(ctx: RequestContext, layer: str) -> Iterator[str]:
    for each in starts(ctx, layer, "layer"):
        yield ctx.view.names.get(ctx.view.resource(each)) or ""
