"""Pulls of live reports: run as the member who last saved the report, with their rights at this moment.

Recorded for ninety days.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import sqlalchemy as sa

from lakehold.access.decisions.explanation import describe_resource, humanize
from lakehold.catalog import resource_metadata
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, Moment
from lakehold.kit.database import IdType, metadata
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.runs.scheduler.housekeeping import PeriodicTask
from lakehold.workspaces.graph import edge_sources, edge_targets
from lakehold.workspaces.marts import destinations, mart_kinds, reports
from lakehold.workspaces.marts.live import LIVE_TYPE
from lakehold.workspaces.marts.live.secrets import LiveAccess, live_secret_table
from lakehold.workspaces.marts.pipelines.data_mart import need_published
from lakehold.workspaces.marts.pipelines.report import mart_of


@dataclass(frozen=True, slots=True)
class PullableReport:
    """A report that can be pulled, unless an error is given."""

    uid: str
    name: str
    refused: str
    """What stands against it, in words."""


@dataclass(frozen=True, slots=True)
class ReportPull:
    """A pull that is allowed now."""

    caller: Caller
    text: str
    tenant: int
    report: int
    destination: int


def pullable_reports(platform: Platform, access: LiveAccess, lake: IcebergCatalog) -> list[PullableReport]:
    """Return the reports of the destination by name."""
    with platform.read(_platform_caller(access)) as ctx:
        _need_live(ctx, access.destination)
        found = edge_sources(ctx, access.destination, "destination")
        savers = {uid: resource_metadata.last_editor(ctx, uid) for uid in found}
        names = {uid: _name(ctx, uid) for uid in found}
    made = [PullableReport(uid, names[uid], _refusal(platform, access, lake, uid, savers[uid])) for uid in found]
    return sorted(made, key=lambda each: each.name.casefold())


def begin_pull(platform: Platform, access: LiveAccess, lake: IcebergCatalog, report: str) -> ReportPull:
    """Return an allowed pull, audited; or raise why it is refused."""
    with platform.read(_platform_caller(access)) as ctx:
        _need_live(ctx, access.destination)
        if not ctx.view.ids.get(report) or access.destination not in edge_targets(ctx, report, "destination"):
            raise NotFoundError(f"There is no report {quote(report)} here.", "Ask for the list of reports.")
        saver = resource_metadata.last_editor(ctx, report)
    with platform.write(_saver_caller(access, saver, report)) as ctx:
        text = _pull_sql(ctx, access, lake, report)
        ctx.note("pull", report, after={"destination": access.destination, "secret": access.secret})
        numbers = (ctx.view.resource(uid) for uid in (report, access.destination))
        return ReportPull(ctx.caller, text, ctx.session.tenant, *numbers)


def _pull_sql(ctx: RequestContext, access: LiveAccess, lake: IcebergCatalog, report: str) -> str:
    """Return the query of the report if its saver may do everything that it takes."""
    if ctx.view.ids.get(ctx.caller.member) is None:
        raise DeniedError(
            f"Whoever last saved the report {quote(report)} is no longer here.",
            "Let somebody who may run it save it anew.",
            action="run",
            resource=report,
        )
    mart = mart_of(ctx, report)
    for action, uid in (("run", report), ("use", mart), ("use", access.destination)):
        _need_of_saver(ctx, action, uid, report)
    need_published(ctx, mart)
    return reports.report_sql(ctx, lake, reports.report_settings(ctx, report), mart)


def _need_of_saver(ctx: RequestContext, action: str, uid: str, report: str) -> None:
    """Require a right of the saver, with an error for whoever pulls."""
    try:
        ctx.need(action, uid)
    except (DeniedError, HiddenError) as error:
        who, missing = _name(ctx, ctx.caller.member), error.hint if isinstance(error, DeniedError) else ""
        raise DeniedError(
            f"The report is pulled as {who}, who may not {humanize(action)} {describe_resource(ctx.view, uid)}.",
            missing or f"Let {who} see it again, or let somebody who may run it save the report {quote(report)}.",
            action=action,
            resource=uid,
        ) from error


def _refusal(platform: Platform, access: LiveAccess, lake: IcebergCatalog, report: str, saver: Caller | None) -> str:
    try:
        # No client sent this: a refusal here is no attempt, and is not audited.
        with platform.database.read() as transaction:
            ctx = RequestContext(
                platform.access.session(transaction, access.tenant), _saver_caller(access, saver, report), platform.keys
            )
            _pull_sql(ctx, access, lake, report)
    except (DeniedError, ConflictError, InvalidInputError, NotFoundError) as error:
        return error.message
    return ""


def _need_live(ctx: RequestContext, destination: str) -> None:
    if destinations.is_deleted(ctx, destination):
        raise ConflictError(f"The destination {quote(destination)} is deleted.", "Restore it first.")
    if resource_metadata.load(ctx, destination).settings.get("to") != LIVE_TYPE:
        raise ConflictError(f"The destination {quote(destination)} is not live.", "Its reports are sent.")


def _saver_caller(access: LiveAccess, saver: Caller | None, report: str) -> Caller:
    if saver is None:
        raise ConflictError(f"Nobody has saved the report {quote(report)}.", "Save it once.")
    # The audit log names the secret where it names a token.
    visit = access.visit
    return replace(saver, token_id=access.secret, request=visit.request, address=visit.address)


def _platform_caller(access: LiveAccess) -> Caller:
    return access.visit.to_caller(access.tenant)


def _name(ctx: RequestContext, uid: str) -> str:
    number = ctx.view.ids.get(uid)
    return (ctx.view.names.get(number) if number is not None else None) or uid


live_pull_table = sa.Table(
    "live_pull",
    metadata,
    sa.Column("n", IdType, primary_key=True, autoincrement=True),
    sa.Column("tenant_id", IdType, nullable=False),
    sa.Column("report_id", IdType, nullable=False),
    sa.Column("destination_id", IdType, nullable=False),
    sa.Column("at", IdType, nullable=False),
    sa.Column("rows", IdType, nullable=False),
    sa.Column("milliseconds", IdType, nullable=False),
)
sa.Index("live_pull_by_report", live_pull_table.c.tenant_id, live_pull_table.c.report_id, live_pull_table.c.n)
sa.Index("live_pull_by_time", live_pull_table.c.at)

RETENTION_DAYS = 90


def record_pull(
    platform: Platform, access: LiveAccess, pull: ReportPull, at: Moment, *, rows: int, milliseconds: int
) -> None:
    """Record a pull."""
    record = {"report_id": pull.report, "destination_id": pull.destination, "rows": rows, "milliseconds": milliseconds}
    with platform.database.write("live") as transaction:
        transaction.connection.execute(live_pull_table.insert().values(tenant_id=pull.tenant, at=at, **record))
        used = live_secret_table.update().where(live_secret_table.c.id == access.secret).values(used_at=at)
        transaction.connection.execute(used)


def delete_old_pulls(platform: Platform) -> int:
    """Delete old records; return how many."""
    with platform.database.write("live") as transaction:
        old = live_pull_table.delete().where(live_pull_table.c.at < platform.clock() - RETENTION_DAYS * DAY)
        return transaction.connection.execute(old).rowcount


PERIODIC_TASKS = (PeriodicTask("forget pulls", 3600, delete_old_pulls),)


def take_over(ctx: RequestContext, report: str) -> None:
    """Let the report be pulled as the caller from now on, who may edit and run it."""
    ctx.need_writable()
    mart_kinds.need_action(ctx, report, mart_kinds.REPORT_KIND, "edit")
    ctx.need("run", report)
    before = resource_metadata.last_editor(ctx, report)
    resource_metadata.save(ctx, report)
    ctx.note("take over", report, before={"saved_by": before.member if before else ""})
