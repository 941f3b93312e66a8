"""Connections of a project in the worker: connectors of storages, probes, tests of destinations, and deliveries.

A report is queried as the caller of the run, rendered, and sent to its destination. Probes and tests send nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from lakehold.catalog import credentials
from lakehold.connectors import registry as connectors
from lakehold.connectors.database.jdbc import open_database
from lakehold.connectors.database.source import JdbcSource
from lakehold.connectors.destinations import delivery_folder
from lakehold.connectors.destinations.delivery import DeliveryMessage, DeliveryRequest
from lakehold.connectors.files.source import open_folder
from lakehold.connectors.registry import ConnectorEnvironment, open_environment
from lakehold.connectors.settings import DestinationSettings
from lakehold.connectors.sources.source import SourceConnector
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.lake import readable_tables
from lakehold.lake.spark import row_checks
from lakehold.lake.volumes import Volume
from lakehold.runs import run_table
from lakehold.runs.step_context import StepContext, StepResult
from lakehold.workspaces import transfer
from lakehold.workspaces.descriptor import Probe
from lakehold.workspaces.marts import mart_probe, reports
from lakehold.workspaces.marts.mart_probe import SAMPLE_ROWS, ProbeTarget, matching_tables, pattern_notes
from lakehold.workspaces.marts.messages import DEFAULT_TEMPLATE, MAX_BLOCK_ROWS, MessageData, MessageTemplate
from lakehold.workspaces.marts.pipelines import SendReport
from lakehold.workspaces.marts.report_settings import REPORT, ReportSettings
from lakehold.workspaces.marts.settings import (
    DESTINATION,
    DatabaseStorageSettings,
    DefinitionType,
    LakeStorageSettings,
    LiveSettings,
    StorageSettings,
    parse_connection,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def probe_feed(
    platform: Platform, caller: Caller, request: Mapping[str, Any], start_spark: Callable[[], object]
) -> dict[str, Any]:
    """Return the streams of the connector, or a sample of one, to those who may create or edit such a data mart."""
    target = ProbeTarget(**request)
    connection = parse_connection(target.settings or {})
    with platform.read(caller) as ctx:
        mart_probe.need_feed_probe(ctx, target)
        environment = open_environment(ctx, platform.settings, mart_probe.probe_secrets(ctx, target))
    if connection.needs_drivers:
        start_spark()
    return transfer.probe_source(connectors.open_source(environment, connection), target.text)


def storage_connector(environment: ConnectorEnvironment, storage: StorageSettings, sql: str = "") -> SourceConnector:
    """Return the connector of a storage: its tables or files, or one query as a stream."""
    assert not isinstance(storage, LakeStorageSettings)  # noqa: S101 - a lakehouse is read in SQL, as the caller
    if isinstance(storage, DatabaseStorageSettings):
        database = open_database(environment, storage)
        return JdbcSource(database, queries={sql: sql}) if sql else JdbcSource(database, storage.schemas)
    if sql:
        raise InvalidInputError("Files cannot be queried in SQL.", "Define the data mart by a table or a pattern.")
    return open_folder(environment, storage.folder)


def probe_storage(
    platform: Platform, caller: Caller, request: Mapping[str, Any], start_spark: Callable[[], object]
) -> dict[str, Any]:
    """Return the tables of a storage, or a sample, to those who may use it, or create or edit one like this."""
    target = ProbeTarget(**request)
    with platform.read(caller) as ctx:
        storage = mart_probe.need_storage_probe(ctx, target)
        volume = Volume(platform.settings, readable_tables.identifier_of(ctx, target.uid)) if target.uid else None
        environment = open_environment(ctx, platform.settings, mart_probe.probe_secrets(ctx, target), volume)
    if isinstance(storage, DatabaseStorageSettings):
        # Its drivers are Spark's. Files are read without it.
        start_spark()
    sql = target.text if target.by == DefinitionType.SQL else ""
    connector = storage_connector(environment, storage, sql)
    if target.by:
        return _sample(connector, target)
    connector.check()
    return {"tables": [{"name": each.name, "uid": "", "keys": list(each.keys)} for each in connector.streams()]}


def _sample(connector: SourceConnector, target: ProbeTarget) -> dict[str, Any]:
    found, notes = [target.text], list[str]()
    if target.by == DefinitionType.PATTERN:
        found = matching_tables(target.text, [each.name for each in connector.streams()])
        notes = pattern_notes(found)
    sample = asdict(connector.sample(found[0], SAMPLE_ROWS))
    return {**sample, "notes": [*notes, *sample["notes"]]}


def check_destination(
    platform: Platform, caller: Caller, request: Mapping[str, Any], start_spark: Callable[[], object]
) -> dict[str, str]:
    """Test a destination and return the result as a message; raise if nothing could be sent."""
    target = ProbeTarget(**request)
    to = DESTINATION.parse(target.settings or {})
    if to.needs_drivers:
        start_spark()
    with platform.read(caller) as ctx:
        mart_probe.need_destination_check(ctx, target)
        volume = Volume(platform.settings, readable_tables.identifier_of(ctx, target.uid or target.project))
        environment = open_environment(ctx, platform.settings, mart_probe.probe_secrets(ctx, target), volume)
    if isinstance(to, LiveSettings):
        return {"message": "Nothing is sent: BI tools pull the reports. Create a secret for them."}
    # Each report says these itself.
    named = transfer.with_report_name(to, "report")
    return {"message": connectors.open_destination(environment, named, DeliveryRequest()).check()}


PROBES: Mapping[str, Probe] = {"storage": probe_storage, "feed": probe_feed, "destination": check_destination}


_MESSAGE_FILE = "said.json"


def _render_message(
    step_ctx: StepContext, rows: DataFrame, data: MessageData, template: str, to: DestinationSettings
) -> DeliveryMessage | None:
    """Return the message for these rows, or None where only rows are sent.

    It is rendered once for each run, so that a repeated delivery says the same.
    """
    if not to.takes_message or (to.takes_rows and not template):
        return None
    file = step_ctx.retained_folder / _MESSAGE_FILE
    stored = delivery_folder.read_json(file)
    if stored is not None:
        return DeliveryMessage(**stored)
    message = MessageTemplate(template or DEFAULT_TEMPLATE)
    some = [tuple(row) for row in rows.limit(MAX_BLOCK_ROWS + 1).collect()]
    # A mail's own file says how many there are; what is said alone says it itself.
    counts = message.needs_row_count or not to.takes_rows
    count = rows.count() if len(some) > MAX_BLOCK_ROWS and counts else len(some)
    written = message.render(replace(data, rows=some, count=count))
    rendered = DeliveryMessage(written.text, written.html, written.chat, count)
    delivery_folder.write_json(file, asdict(rendered))
    return rendered


def send_report(step: SendReport, step_ctx: StepContext) -> StepResult:
    """Query the report and send it, if its condition holds."""
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        report = REPORT.parse(step.settings)
        ctx.need("use", step.destination)
        name = ctx.view.names.get(ctx.view.resource(step.report)) or step.report
        environment, to = _open_delivery(ctx, step_ctx, step, report, name)
        day = reports.report_day(ctx, report)
        before = str(run_table.last_run_state(ctx, step.report).get("seal", ""))
        # Programs address columns by their names, which an alias must not change under them.
        labelled = to.writes_volume or to.takes_message
        lake = step_ctx.tables.lake
        query = reports.report_statement(ctx, lake, report, step.mart, marts=step.marts, labelled=labelled)
    rows = step_ctx.run_query("", query.sql)[0]
    step_ctx.check_stopped()
    reason, fingerprint = _skip_reason(rows, report, before)
    if reason:
        step_ctx.log(f"Nothing was sent: {reason}")
        return StepResult(state={"seal": before})
    data = MessageData(name, day, query.columns, labels=tuple(rows.columns))
    message = _render_message(step_ctx, rows, data, report.message, to)
    request = replace(transfer.delivery_request(step_ctx), message=message)
    sent = connectors.open_destination(environment, to, request).send(rows)
    return transfer.delivery_result(step_ctx, sent, seal=fingerprint)


def _open_delivery(
    ctx: RequestContext, step_ctx: StepContext, step: SendReport, report: ReportSettings, name: str
) -> tuple[ConnectorEnvironment, DestinationSettings]:
    # What a report says of how it is sent goes before what its destination says.
    stored = step.destination_settings
    record = DESTINATION.records.get(str(stored.get("to")))
    said = {key: value for key, value in asdict(report.delivery).items() if value is not None and hasattr(record, key)}
    to = DESTINATION.parse({**stored, **said})
    volume = Volume(step_ctx.platform.settings, readable_tables.identifier_of(ctx, step.destination))
    secrets = credentials.load_for_step(ctx, step.destination, stored)
    environment = open_environment(ctx, step_ctx.platform.settings, secrets, volume)
    return environment, transfer.with_report_name(to, name)


def _skip_reason(rows: DataFrame, report: ReportSettings, before: str) -> tuple[str, str]:
    """Return why nothing is sent, if nothing is, and a fingerprint of the rows if it matters whether they changed."""
    match report.send:
        case "rows":
            return ("there are no rows." if rows.isEmpty() else ""), ""
        case "changed":
            fingerprint = row_checks.fingerprint(rows)
            return ("nothing has changed since it was last sent." if fingerprint == before else ""), fingerprint
        case _:
            return "", ""
