"""Drops the replication slots of tasks that capture no changes any more, and looks at those that nobody reads."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from lakehold.catalog import credentials, resource_metadata
from lakehold.connectors.database.change_capture.replication_source import ReplicationSource, open_replication_source
from lakehold.connectors.registry import open_environment
from lakehold.directory import tenants
from lakehold.directory.caller import Caller
from lakehold.kit.errors import LakeholdError
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.runs.scheduler.housekeeping import PeriodicTask
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.spaces import change_captures
from lakehold.workspaces.spaces.datasets import DesignState, design_state
from lakehold.workspaces.spaces.executors.change_capture import need_captured_database
from lakehold.workspaces.spaces.settings import CONNECTION, TASK
from lakehold.workspaces.spaces.slot_check import describe_slot_problem
from lakehold.workspaces.spaces.tasks.landing import LandingSettings

if TYPE_CHECKING:
    from lakehold.connectors.database.jdbc import JdbcDatabase
    from lakehold.directory.platform import Platform
    from lakehold.directory.request_context import RequestContext
    from lakehold.workspaces.spaces.change_captures import ChangeCapture

_log = logging.getLogger("lakehold.runs")
_MINUTE = 60
_MOST_SECONDS = 15
"""How long one database may keep the others waiting."""


def drop_unused_slots(platform: Platform) -> int:
    """Drop the slots of deleted tasks, and of those that were prepared to capture no changes; return how many."""
    count, away = 0, set[tuple[str, int]]()
    for caller, capture in _captures(platform, unused=True):
        connection = (caller.tenant, capture.connection)
        if connection in away:
            continue
        if drop_slot(platform, caller, capture):
            count += 1
        else:
            away.add(connection)
    return count


def drop_task_slots(platform: Platform, caller: Caller, task: str) -> None:
    """Drop the slots that a prepared task does not use any more. What fails now is tried again every minute."""
    with platform.read(caller) as ctx:
        unused = [each for each in change_captures.list_of_task(ctx, task) if not _is_used(ctx, each)]
    for capture in unused:
        drop_slot(platform, caller, capture)


def drop_slot(platform: Platform, caller: Caller, capture: ChangeCapture) -> bool:
    """Drop a slot with its publication; return whether it is gone."""
    try:
        with platform.read(caller) as ctx:
            database = _database(ctx, platform, capture)
            is_own = _is_own(ctx, platform, capture)
        if not is_own:
            # The original of a copy goes on with it.
            _log.warning(
                "the replication slot %s is that of another place of this installation: it stays", capture.slot
            )
        elif database is None:
            _log.warning("the connection is gone: drop the replication slot %s at the source by hand", capture.slot)
        else:
            _drop_at_source(database, capture)
    except LakeholdError as error:
        _log.warning("the replication slot %s cannot be dropped yet: %s", capture.slot, error.code)
        return False
    with platform.write(caller) as ctx:
        change_captures.delete(ctx, capture)
    return True


def _is_own(ctx: RequestContext, platform: Platform, capture: ChangeCapture) -> bool:
    """Return whether a slot was made by the installation as it is here, and not by the one that it is a copy of."""
    with closing(IcebergCatalog(platform.settings)) as lake:
        return capture.slot == change_captures.slot_name(lake.installation_id, ctx.session.tenant, capture.task)


def _drop_at_source(database: JdbcDatabase, capture: ChangeCapture) -> None:
    with open_replication_source(database, _MOST_SECONDS) as source:
        if capture.state.source not in {"", source.identity}:
            message = "the connection leads to another database: drop the replication slot %s at the one before by hand"
            _log.warning(message, capture.slot)
            return
        source.drop_slot(capture.slot)
        source.drop_publication(capture.slot)


def check_slots(platform: Platform) -> int:
    """Look at what source databases keep of their logs for slots; return how many slots are a problem."""
    count, away = 0, set[tuple[str, int]]()
    for caller, capture in _captures(platform, unused=False):
        if (caller.tenant, capture.connection) in away:
            continue
        try:
            with platform.read(caller) as ctx:
                database, landing = _database(ctx, platform, capture), _landing(ctx, capture)
            if database is None or landing is None:
                continue
            with open_replication_source(database, _MOST_SECONDS) as source:
                count += _check_slot(platform, caller, capture, source, landing.retained_warning_mb)
        except LakeholdError as error:
            _log.warning("the replication slot %s cannot be looked at: %s", capture.slot, error.code)
            away.add((caller.tenant, capture.connection))
    return count


def _check_slot(
    platform: Platform, caller: Caller, capture: ChangeCapture, source: ReplicationSource, warning_mb: int
) -> bool:
    if not capture.state.slot_id:
        return False
    slot = source.slot(capture.slot)
    problem = describe_slot_problem(slot, warning_mb)
    with platform.write(caller) as ctx:
        change_captures.save_check(ctx, capture, retained=slot.retained if slot else 0, problem=problem)
    if problem:
        _log.warning("replication slot %s: %s", capture.slot, problem)
    return bool(problem)


def _captures(platform: Platform, *, unused: bool) -> Iterator[tuple[Caller, ChangeCapture]]:
    for tenant in tenants.list_all(platform):
        caller = Caller(tenant.uid, "", address="worker")
        try:
            with platform.read(caller) as ctx:
                found = [each for each in change_captures.list_all(ctx) if _is_used(ctx, each) is not unused]
        except LakeholdError as error:
            # One tenant's trouble is not another's.
            _log.warning("the replication slots of %s cannot be listed: %s", tenant.uid, error.code)
            continue
        for capture in found:
            yield caller, capture


def _is_used(ctx: RequestContext, capture: ChangeCapture) -> bool:
    """Return whether a task still captures changes over this connection, or may: it was edited and not prepared."""
    uid = ctx.view.uids.get(capture.task)
    if uid is None:
        return False
    if design_state(resource_metadata.load(ctx, uid).settings) is not DesignState.READY_TO_RUN:
        return True
    landing = _landing(ctx, capture)
    if landing is None or not landing.captured():
        return False
    return capture.connection in {ctx.view.resource(each) for each in edge_targets(ctx, uid, "sources")}


def _landing(ctx: RequestContext, capture: ChangeCapture) -> LandingSettings | None:
    uid = ctx.view.uids.get(capture.task)
    stored = resource_metadata.load(ctx, uid).settings if uid else {}
    if not stored or TASK.is_draft(stored) or TASK.problems(stored):
        return None
    settings = TASK.parse(stored)
    return settings if isinstance(settings, LandingSettings) else None


def _database(ctx: RequestContext, platform: Platform, capture: ChangeCapture) -> JdbcDatabase | None:
    """Return the source database of a capture; None if its connection was deleted."""
    uid = ctx.view.uids.get(capture.connection)
    if uid is None:
        return None
    settings = CONNECTION.parse(resource_metadata.load(ctx, uid).settings)
    environment = open_environment(ctx, platform.settings, credentials.load_for_use(ctx, uid))
    return need_captured_database(environment, settings)


PERIODIC_TASKS = (
    PeriodicTask("drop slots", _MINUTE, drop_unused_slots),
    PeriodicTask("check slots", 5 * _MINUTE, check_slots),
)
"""The work that a worker does for change captures again and again."""
