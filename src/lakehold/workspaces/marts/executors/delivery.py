"""Executor of a report: queried as the caller of the run, rendered, and sent to its destination."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from lakehold.catalog import credentials, resource_metadata
from lakehold.connectors import registry as connectors
from lakehold.connectors.destinations import delivery_folder
from lakehold.connectors.destinations.delivery import DeliveryMessage
from lakehold.connectors.destinations.settings import DestinationSettings
from lakehold.connectors.files.settings import FileDestinationSettings
from lakehold.connectors.registry import ConnectorEnvironment
from lakehold.directory.request_context import RequestContext
from lakehold.lake import readable_tables
from lakehold.lake.spark import row_checks
from lakehold.lake.volumes import Volume
from lakehold.runs import run_table
from lakehold.runs.runnable import StepContext, StepResult
from lakehold.workspaces import transfer
from lakehold.workspaces.graph import edge_sources
from lakehold.workspaces.marts import reports
from lakehold.workspaces.marts.message_blocks import MAX_BLOCK_ROWS, MessageData
from lakehold.workspaces.marts.message_template import DEFAULT_TEMPLATE, MessageTemplate
from lakehold.workspaces.marts.settings import DESTINATION, ReportSettings
from lakehold.workspaces.marts.steps import SendReport

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MESSAGE_FILE = "said.json"


class ReportMessage:
    """The message of a report, rendered once for each run so that a repeated delivery says the same."""

    def __init__(self, ctx: RequestContext, name: str, report: ReportSettings, to: str) -> None:
        self._name, self._day = name, reports.report_day(ctx, report)
        template = report.message
        self._message = MessageTemplate(template or DEFAULT_TEMPLATE) if template or to == "chat" else None
        self._to = to

    def render(self, rows: DataFrame, step_ctx: StepContext) -> DeliveryMessage | None:
        """Return the message for these rows, or None where only rows are sent."""
        if self._message is None or self._to not in {"chat", "mail"}:
            return None
        file = step_ctx.retained_folder / _MESSAGE_FILE
        stored = delivery_folder.read_json(file)
        if stored is not None:
            return DeliveryMessage(**stored)
        message = self._render(self._message, rows)
        delivery_folder.write_json(file, asdict(message))
        return message

    def _render(self, message: MessageTemplate, rows: DataFrame) -> DeliveryMessage:
        some = [tuple(row) for row in rows.limit(MAX_BLOCK_ROWS + 1).collect()]
        # A mail's own file says how many there are; what is said alone says it itself.
        counts = message.needs_row_count or self._to == "chat"
        count = rows.count() if len(some) > MAX_BLOCK_ROWS and counts else len(some)
        written = message.render(MessageData(self._name, self._day, tuple(rows.columns), some, count))
        return DeliveryMessage(written.text, written.html, written.chat, count)


def send_report(step: SendReport, step_ctx: StepContext) -> StepResult:
    """Query the report and send it, if its condition holds."""
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        report = reports.report_settings(ctx, step.report)
        ctx.need("use", step.destination)
        environment, to, message = _prepare_delivery(ctx, step_ctx, step, report)
        before = str(run_table.last_run_state(ctx, step.report).get("seal", ""))
        text = reports.report_sql(ctx, step_ctx.tables.lake, report, step.mart)
    rows = step_ctx.run_query("", text)[0]
    step_ctx.check_stopped()
    reason, fingerprint = _skip_reason(rows, report, before)
    if reason:
        step_ctx.log(f"Nothing was sent: {reason}")
        return StepResult(state={"seal": before})
    request = replace(transfer.delivery_request(step_ctx), message=message.render(rows, step_ctx))
    sent = connectors.open_destination(environment, to, request).send(rows)
    return transfer.delivery_result(step_ctx, sent, seal=fingerprint)


def _prepare_delivery(
    ctx: RequestContext, step_ctx: StepContext, step: SendReport, report: ReportSettings
) -> tuple[ConnectorEnvironment, DestinationSettings, ReportMessage]:
    name = ctx.view.names.get(ctx.view.resource(step.report)) or step.report
    # What a report says of how it is sent goes before what its destination says.
    stored = resource_metadata.load(ctx, step.destination).settings
    said = {key: value for key, value in asdict(report.delivery).items() if value is not None}
    to = DESTINATION.parse({**stored, **said} if stored.get("to") in {"files", "mail"} else stored)
    volume = Volume(step_ctx.platform.settings, readable_tables.identifier_of(ctx, step.destination))
    secrets = credentials.load_for_use(ctx, step.destination)
    environment = ConnectorEnvironment(step_ctx.platform.settings, secrets, volume)
    if isinstance(to, FileDestinationSettings):
        to = replace(to, name=to.name or _file_name(ctx, step, name))
    return environment, transfer.with_report_name(to, name), ReportMessage(ctx, name, report, to.to)


def _file_name(ctx: RequestContext, step: SendReport, name: str) -> str:
    """Return the name of the report for its file, made unique if another report of the destination has the
    same name.
    """
    others = (
        ctx.view.resource(each) for each in edge_sources(ctx, step.destination, "destination") if each != step.report
    )
    is_twice = any((ctx.view.names.get(each) or "").casefold() == name.casefold() for each in others)
    return f"{name} {step.report}" if is_twice else name


def _skip_reason(rows: DataFrame, report: ReportSettings, before: str) -> tuple[str, str]:
    """Return why nothing is sent, if nothing is.

    And a fingerprint of the rows, where it matters whether they have changed.
    """
    match report.send:
        case "rows":
            return ("there are no rows." if row_checks.is_empty(rows) else ""), ""
        case "changed":
            fingerprint = row_checks.fingerprint(rows)
            return ("nothing has changed since it was last sent." if fingerprint == before else ""), fingerprint
        case _:
            return "", ""
