"""Reports: their query as SQL for the caller at this moment, and the preview of their message."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lakehold.catalog import resource_metadata
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import SECOND
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.runs import worker_client
from lakehold.workspaces.marts import joins
from lakehold.workspaces.marts.message_blocks import MessageData
from lakehold.workspaces.marts.message_template import DEFAULT_TEMPLATE, MessageTemplate, RenderedMessage
from lakehold.workspaces.marts.report_query import ReportQuery
from lakehold.workspaces.settings_reader import SettingsReader

REPORT_LABEL = "report"


def report_settings(ctx: RequestContext, uid: str) -> SettingsReader:
    """Return a reader of the settings of a report."""
    return SettingsReader(resource_metadata.load(ctx, uid).settings, REPORT_LABEL)


def report_sql(
    ctx: RequestContext,
    lake: IcebergCatalog,
    reader: SettingsReader,
    mart: str,
    parameters: Mapping[str, str] | None = None,
) -> str:
    """Return the SELECT of a report. Parameters that are given override those of the report."""
    return _load_query(ctx, reader, parameters).to_sql(joins.query_source(ctx, lake, mart))


def report_columns(ctx: RequestContext, lake: IcebergCatalog, reader: SettingsReader, mart: str) -> tuple[str, ...]:
    """Return the names of the report's columns."""
    return _load_query(ctx, reader, None).columns(joins.query_source(ctx, lake, mart))


def report_day(ctx: RequestContext, reader: SettingsReader) -> str:
    """Return the current day in the time zone of the report."""
    return _now(ctx, reader).date().isoformat()


def _load_query(ctx: RequestContext, reader: SettingsReader, parameters: Mapping[str, str] | None) -> ReportQuery:
    return ReportQuery(reader, _now(ctx, reader), {**reader.pairs("parameters"), **(parameters or {})})


def _now(ctx: RequestContext, reader: SettingsReader) -> datetime:
    zone = reader.text("zone", "UTC")
    try:
        return datetime.fromtimestamp(ctx.at / SECOND, UTC).astimezone(ZoneInfo(zone))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidInputError(f"There is no time zone {quote(zone)}.", "Write Europe/Berlin.") from None


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
    reader = SettingsReader(settings, REPORT_LABEL)
    if template := reader.text("message", ""):
        MessageTemplate(template).check(report_columns(ctx, lake, reader, mart))


def prepare_preview(
    ctx: RequestContext, lake: IcebergCatalog, settings: Mapping[str, Any], mart: str, name: str
) -> PreparedPreview:
    """Refuse unless the caller may use the data mart and the message can be rendered."""
    readable_tables.refuse_impersonation(ctx)
    check_message(ctx, lake, settings, mart)
    reader = SettingsReader(settings, REPORT_LABEL)
    message = MessageTemplate(reader.text("message", "") or DEFAULT_TEMPLATE)
    text = report_sql(ctx, lake, reader, mart)
    return PreparedPreview(ctx.caller, text, message, name, report_day(ctx, reader))


def render_preview(platform: Platform, preview: PreparedPreview) -> RenderedMessage:
    """Read the rows as the caller, outside of any transaction, and render the message."""
    uid = f"q_{secrets.token_hex(12)}"
    with worker_client.run_query(
        platform, preview.caller, uid=uid, workspace="", text=preview.text, rows=_PREVIEW_ROWS
    ) as found:
        columns = tuple(found.batches.schema.names)
        rows = [
            row
            for batch in found.batches
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
        ]
    return preview.message.render(MessageData(preview.name, preview.day, columns, rows, len(rows), found.complete))
