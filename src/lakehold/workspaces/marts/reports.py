"""Reports: their query as SQL for the caller at this moment, and the preview of their message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from lakehold.catalog import resource_metadata
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import SECOND
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.runs import worker_client
from lakehold.workspaces.marts import joins
from lakehold.workspaces.marts.message_blocks import MessageData
from lakehold.workspaces.marts.message_template import DEFAULT_TEMPLATE, MessageTemplate, RenderedMessage
from lakehold.workspaces.marts.report_query import ReportQuery
from lakehold.workspaces.marts.settings import REPORT, ReportSettings


def report_settings(ctx: RequestContext, uid: str) -> ReportSettings:
    """Return the settings of a report."""
    return REPORT.parse(resource_metadata.load(ctx, uid).settings)


def report_sql(
    ctx: RequestContext,
    lake: IcebergCatalog,
    report: ReportSettings,
    mart: str,
    parameters: Mapping[str, str] | None = None,
) -> str:
    """Return the SELECT of a report. Parameters that are given override those of the report."""
    return _load_query(ctx, report, parameters).to_sql(joins.query_source(ctx, lake, mart))


def report_columns(ctx: RequestContext, lake: IcebergCatalog, report: ReportSettings, mart: str) -> tuple[str, ...]:
    """Return the names of the report's columns."""
    return _load_query(ctx, report, None).columns(joins.query_source(ctx, lake, mart))


def report_day(ctx: RequestContext, report: ReportSettings) -> str:
    """Return the current day in the time zone of the report."""
    return _now(ctx, report).date().isoformat()


def _load_query(ctx: RequestContext, report: ReportSettings, parameters: Mapping[str, str] | None) -> ReportQuery:
    return ReportQuery(report, _now(ctx, report), {**report.parameters, **(parameters or {})})


def _now(ctx: RequestContext, report: ReportSettings) -> datetime:
    return datetime.fromtimestamp(ctx.at / SECOND, UTC).astimezone(ZoneInfo(report.zone))


_PREVIEW_ROWS = 100


@dataclass(frozen=True, slots=True)
class PreparedPreview:
    """A message that the caller may preview."""

    caller: Caller
    text: str
    """The query."""
    message: MessageTemplate
    name: str
    day: str


def check_message(ctx: RequestContext, lake: IcebergCatalog, settings: Mapping[str, Any], mart: str) -> None:
    """Refuse a report whose message names a column that it does not have."""
    report = REPORT.parse(settings)
    if report.message:
        MessageTemplate(report.message).check(report_columns(ctx, lake, report, mart))


def prepare_preview(
    ctx: RequestContext, lake: IcebergCatalog, settings: Mapping[str, Any], mart: str, name: str
) -> PreparedPreview:
    """Refuse unless the caller may use the data mart and the message can be rendered."""
    readable_tables.refuse_impersonation(ctx)
    check_message(ctx, lake, settings, mart)
    report = REPORT.parse(settings)
    message = MessageTemplate(report.message or DEFAULT_TEMPLATE)
    text = report_sql(ctx, lake, report, mart)
    return PreparedPreview(ctx.caller, text, message, name, report_day(ctx, report))


def render_preview(platform: Platform, preview: PreparedPreview) -> RenderedMessage:
    """Read the rows as the caller, outside of any transaction, and render the message."""
    with worker_client.run_query(platform, preview.caller, text=preview.text, rows=_PREVIEW_ROWS) as found:
        columns, rows = tuple(found.batches.schema.names), found.rows()
    return preview.message.render(MessageData(preview.name, preview.day, columns, rows, len(rows), found.complete))
