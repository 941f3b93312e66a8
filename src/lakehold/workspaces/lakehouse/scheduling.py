"""The upkeep of tables by itself, when there is something to do.

It changes no row, so that it is nobody's business but the installation's, which runs it. A lakehouse whose setting
`upkeep` is false is left alone.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime

import sqlalchemy as sa

from lakehold import workspaces
from lakehold.catalog import kinds, resource_metadata
from lakehold.directory import tenants
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, SECOND, Moment
from lakehold.lake import table_metadata
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.lake.table_metadata import IcebergMetadata
from lakehold.runs import run_table as states
from lakehold.runs.run_table import run_table
from lakehold.runs.runnable import RunOptions
from lakehold.runs.runs import Runs
from lakehold.workspaces.lakehouse.pipelines.upkeep import DO, UPKEEP
from lakehold.workspaces.lakehouse.upkeep import KEPT

_log = logging.getLogger("lakehold.runs")

CAUSE = "for upkeep"
_MANY = 20


def due(now: IcebergMetadata, last: Moment | None, at: Moment, days: int) -> bool:
    """Whether something is to be done: snapshots that may go, many new ones, or any new one after a week."""
    before = datetime.fromtimestamp((at - days * DAY) / SECOND, UTC)
    if any(each.at < before for each in now.snapshots[:-KEPT]):
        return True
    since = datetime.fromtimestamp(last / SECOND, UTC) if last else None
    fresh = [each for each in now.snapshots if since is None or each.at > since]
    if len(fresh) >= _MANY:
        return True
    week = datetime.fromtimestamp((at - 7 * DAY) / SECOND, UTC)
    return bool(fresh) and fresh[0].at < week and (since is None or since < week)


def schedule(platform: Platform) -> int:
    """Start the upkeep of tables that want it, one of each lakehouse at a time: others are not to wait behind it."""
    lake, count = IcebergCatalog(platform.settings), 0
    try:
        for tenant in tenants.list_all(platform):
            caller = Caller(tenant.uid, "", address="worker")
            # Files are read in a transaction that keeps nobody waiting.
            with platform.read(caller) as ctx:
                found = _wanting(ctx, lake, platform.settings.snapshot_days)
            if found:
                with platform.write(caller) as ctx:
                    count += sum(_begun(ctx, number) for number in found)
    finally:
        lake.close()
    return count


def _begun(ctx: RequestContext, number: int) -> bool:
    uid = ctx.view.uids.get(number)
    if uid is not None:
        Runs(workspaces.runnables()).write(ctx, uid, RunOptions(parameters={DO: UPKEEP}), cause=CAUSE)
    return uid is not None


def _wanting(ctx: RequestContext, lake: IcebergCatalog, days: int) -> list[int]:
    """The next table of each lakehouse, by its number."""
    busy, last = _last(ctx)
    places = {place.number: place for place in lake.list_tables(ctx.session.tenant)}
    locations = lake.metadata_locations(places.values())
    found: dict[str, int] = {}
    for number, place in places.items():
        uid = ctx.view.uids.get(number)
        home = kinds.workspace_of(ctx.view, uid) if uid else None
        if uid is None or home is None or home in found or ctx.view.resource(home) in busy or place not in locations:
            continue
        ended = last.get(number)
        if ended is not None and ended > ctx.at - DAY:
            continue
        if _wanted(ctx, home) and _due(locations[place], ended, ctx.at, days):
            found[home] = number
    return list(found.values())


def _due(location: str, last: Moment | None, at: Moment, days: int) -> bool:
    try:
        return due(table_metadata.load_metadata(location), last, at, days)
    except OSError as error:
        # The files of one table are missing; the others are kept up all the same.
        _log.warning("a table cannot be kept up: %s", type(error).__name__)
        return False


def _last(ctx: RequestContext) -> tuple[set[int], dict[int, Moment]]:
    """The workspaces in which some is going on, and when the last of each table ended."""
    c = run_table.c
    mine = sa.and_(c.tenant_id == ctx.session.tenant, c.cause == CAUSE)
    connection = ctx.session.transaction.connection
    busy = connection.execute(sa.select(c.workspace_id).where(mine, c.state.in_(states.OPEN))).scalars()
    ended = sa.select(c.resource_id, sa.func.max(c.ended_at)).where(mine, c.ended_at.is_not(None))
    return set(busy), {row[0]: row[1] for row in connection.execute(ended.group_by(c.resource_id))}


def _wanted(ctx: RequestContext, lakehouse: str) -> bool:
    return resource_metadata.load(ctx, lakehouse).settings.get("upkeep") is not False
