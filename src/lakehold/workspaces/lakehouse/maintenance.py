"""Table maintenance: compaction, snapshot expiry, rollback and descriptions, each as a run of the table.

Maintenance is also scheduled by the platform when a table or data mart needs it; it changes no row. A lakehouse whose
setting `upkeep` is false is left out.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import sqlalchemy as sa

from lakehold import workspaces
from lakehold.catalog import kinds, resource_metadata
from lakehold.directory import tenants
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, SECOND, Moment
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.lake import readable_tables, table_metadata, table_views
from lakehold.lake.iceberg_catalog import IcebergCatalog, TableIdentifier
from lakehold.lake.table_metadata import IcebergMetadata
from lakehold.runs import run_table as states
from lakehold.runs.cause import CauseKind, RunCause
from lakehold.runs.run_table import run_table
from lakehold.runs.runnable import RunOptions
from lakehold.runs.scheduler.housekeeping import PeriodicTask
from lakehold.runs.service import Run, Runs
from lakehold.workspaces.descriptor import deferred
from lakehold.workspaces.graph import need_kind
from lakehold.workspaces.lakehouse.deleted_tables import expired_places
from lakehold.workspaces.lakehouse.pipelines.base import TABLE_KIND
from lakehold.workspaces.lakehouse.pipelines.tables import DESCRIBE, ROLLBACK
from lakehold.workspaces.upkeep import MIN_SNAPSHOTS, TASK_PARAMETER, UPKEEP

if TYPE_CHECKING:
    from lakehold.lake.spark.tables import Tables


_MAX_DESCRIPTION, _MAX_FIELDS = 2_000, 1_000


def maintain_table(ctx: RequestContext, uid: str) -> Run:
    """Compact files, expire old snapshots, and delete orphan files."""
    return _start_run(ctx, uid, {TASK_PARAMETER: UPKEEP})


def roll_back_table(ctx: RequestContext, lake: IcebergCatalog, uid: str, snapshot: int) -> Run:
    """Roll the table back to a snapshot. Later snapshots stay until they expire, and can be rolled back to."""
    need_table(ctx, uid, "rollback")
    _current_metadata(ctx, lake, uid).snapshot(snapshot)
    return _start_run(ctx, uid, {TASK_PARAMETER: ROLLBACK, "snapshot": snapshot})


def describe_fields(ctx: RequestContext, lake: IcebergCatalog, uid: str, fields: Mapping[str, str]) -> Run:
    """Set the descriptions of some fields."""
    need_table(ctx, uid, "edit")
    there = [field.name for field in _current_metadata(ctx, lake, uid).fields]
    for name, text in fields.items():
        if name not in there:
            raise InvalidInputError(f"The table has no field {quote(name)}.", f"It has: {', '.join(there[:50])}.")
        if len(resource_metadata.valid_description(text)) > _MAX_DESCRIPTION:
            raise InvalidInputError(
                f"The description of {quote(name)} is too long.", f"Use {_MAX_DESCRIPTION:,} at most."
            )
    if not fields or len(fields) > _MAX_FIELDS:
        raise InvalidInputError("No field is named, or too many are.", f"Name one, or {_MAX_FIELDS:,} at most.")
    return _start_run(ctx, uid, {TASK_PARAMETER: DESCRIBE, "fields": dict(fields)})


def need_table(ctx: RequestContext, uid: str, action: str) -> None:
    """Refuse unless it is a table with which the caller may do this."""
    need_kind(ctx, uid, action, (TABLE_KIND,), refusal="A {} is not a table.", hint="Choose a table.")


def _current_metadata(ctx: RequestContext, lake: IcebergCatalog, uid: str) -> IcebergMetadata:
    found = lake.current_metadata(TableIdentifier(ctx.session.tenant, ctx.view.resource(uid)))
    if found is None:
        raise NotFoundError("The table has no data yet.", "Run the pipeline that fills it.")
    return found


def _start_run(ctx: RequestContext, uid: str, parameters: Mapping[str, object]) -> Run:
    readable_tables.refuse_impersonation(ctx)
    need_table(ctx, uid, "see")
    return Runs(workspaces.runnables()).start(ctx, uid, RunOptions(parameters=parameters))


_log = logging.getLogger("lakehold.runs")

_MANY_SNAPSHOTS = 20


def needs_maintenance(now: IcebergMetadata, last: Moment | None, at: Moment, days: int) -> bool:
    """Return whether a table needs maintenance: old snapshots, many new ones, or any new one after a week."""
    before = datetime.fromtimestamp((at - days * DAY) / SECOND, UTC)
    if any(each.at < before for each in now.snapshots[:-MIN_SNAPSHOTS]):
        return True
    since = datetime.fromtimestamp(last / SECOND, UTC) if last else None
    fresh = [each for each in now.snapshots if since is None or each.at > since]
    if len(fresh) >= _MANY_SNAPSHOTS:
        return True
    week = datetime.fromtimestamp((at - 7 * DAY) / SECOND, UTC)
    return bool(fresh) and fresh[0].at < week and (since is None or since < week)


def schedule_maintenance(platform: Platform) -> int:
    """Start the maintenance of tables that need it, one at a time in each workspace; return how many."""
    count = 0
    with closing(IcebergCatalog(platform.settings)) as lake:
        for tenant in tenants.list_all(platform):
            caller = Caller(tenant.uid, "", address="worker")
            # Files are read in a transaction that keeps nobody waiting.
            with platform.read(caller) as ctx:
                found = _next_tables(ctx, lake, platform.settings.snapshot_days)
            if found:
                with platform.write(caller) as ctx:
                    count += sum(_start_scheduled(ctx, number) for number in found)
    return count


def _start_scheduled(ctx: RequestContext, number: int) -> bool:
    uid = ctx.view.uids.get(number)
    if uid is not None:
        Runs(workspaces.runnables()).insert(
            ctx, uid, RunOptions(parameters={TASK_PARAMETER: UPKEEP}), cause=RunCause(CauseKind.MAINTENANCE)
        )
    return uid is not None


def _next_tables(ctx: RequestContext, lake: IcebergCatalog, days: int) -> list[int]:
    """Return the number of the next table of each workspace."""
    busy, last = _last_maintenance(ctx)
    places = {place.number: place for place in lake.list_tables(ctx.session.tenant)}
    locations = lake.metadata_locations(places.values())
    found: dict[str, int] = {}
    for number, place in places.items():
        uid = ctx.view.uids.get(number)
        home = kinds.workspace_of(ctx.view, uid) if uid else None
        if uid is None or home is None or home in found or ctx.view.resource(home) in busy or place not in locations:
            continue
        ended = last.get(number)
        # Not only once a day what was edited since, as a data mart is whose columns are hidden.
        if ended is not None and ended > max(ctx.at - DAY, resource_metadata.load(ctx, uid).updated_at or 0):
            continue
        enabled = resource_metadata.load(ctx, home).settings.get("upkeep") is not False
        hidden = table_views.hidden_fields(ctx, uid)
        if enabled and _table_needs_maintenance(locations[place], hidden, ended, ctx.at, days):
            found[home] = number
    return list(found.values())


def _table_needs_maintenance(
    location: str, hidden: Collection[str], last: Moment | None, at: Moment, days: int
) -> bool:
    try:
        found = table_metadata.load_metadata(location)
        return bool(table_views.retained_fields(found, hidden)) or needs_maintenance(found, last, at, days)
    except OSError as error:
        # The files of one table are missing; the others are kept up all the same.
        _log.warning("table maintenance failed: %s", type(error).__name__)
        return False


def _last_maintenance(ctx: RequestContext) -> tuple[set[int], dict[int, Moment]]:
    """Return the workspaces in which maintenance is running, and when the last one of each table ended."""
    c = run_table.c
    mine = sa.and_(c.tenant_id == ctx.session.tenant, c.cause_kind == CauseKind.MAINTENANCE.value)
    connection = ctx.session.transaction.connection
    busy = connection.execute(sa.select(c.workspace_id).where(mine, c.state.in_(states.OPEN))).scalars()
    ended = sa.select(c.resource_id, sa.func.max(c.ended_at)).where(mine, c.ended_at.is_not(None))
    return set(busy), {row[0]: row[1] for row in connection.execute(ended.group_by(c.resource_id))}


def periodic_tasks(tables: Callable[[], Tables]) -> Sequence[PeriodicTask]:
    """Return the work that a worker does for lakehouses again and again."""
    # It needs Spark, which is started only if there is something to purge.
    purge_dropped_tables = deferred("lakehold.workspaces.lakehouse.executors.tables:purge_dropped_tables")

    def purge(platform: Platform) -> None:
        if expired_places(platform):
            purge_dropped_tables(platform, tables())

    return PeriodicTask("keep tables", 15 * 60, schedule_maintenance), PeriodicTask("purge tables", 3600, purge)
