"""Executors of a data mart: its refresh, its checks, and the copy of its rows in its storage."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from lakehold.catalog import credentials, resource_metadata
from lakehold.connectors import registry as connectors
from lakehold.connectors.database import destination as jdbc
from lakehold.connectors.database.destination import JdbcDestination
from lakehold.connectors.database.jdbc import open_database
from lakehold.connectors.database.settings import DeliveryMode
from lakehold.connectors.destinations.file_formats import ParquetFormat
from lakehold.connectors.files import destination as files
from lakehold.connectors.files.destination import FileDestination
from lakehold.connectors.registry import open_environment
from lakehold.connectors.settings import SyncMode
from lakehold.connectors.sources.source import SourceConnector
from lakehold.connectors.sources.stream_selection import SELECTION_STREAM, LakeSource, StreamSelection
from lakehold.connectors.sources.sync import SyncOptions, SyncResult, current_cursor, sync_stream
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import SECOND
from lakehold.kit.errors import LakeholdError
from lakehold.kit.ids import fold_name
from lakehold.lake import readable_tables, table_views
from lakehold.lake.errors import DataError
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.spark import row_checks
from lakehold.lake.spark.guard import query_errors
from lakehold.lake.volumes import Volume
from lakehold.runs.step_context import StepContext, StepResult
from lakehold.workspaces import transfer, upkeep_executor
from lakehold.workspaces.marts import checks, storages
from lakehold.workspaces.marts.checks import BROKEN, KEPT, UNKNOWN, CheckResult
from lakehold.workspaces.marts.executors import connections
from lakehold.workspaces.marts.mart_probe import select_all
from lakehold.workspaces.marts.pipelines import CopyToStorage, RefreshMart, RunChecks
from lakehold.workspaces.marts.settings import (
    DATA_MART,
    STORAGE,
    CheckKind,
    DatabaseStorageSettings,
    DefinitionType,
    LakeStorageSettings,
    MartSettings,
    QualityCheck,
    parse_definition,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def copy_to_storage(step: CopyToStorage, step_ctx: StepContext) -> StepResult:
    """Replace the copy in the storage by all rows that the data mart has now."""
    settings = step_ctx.platform.settings
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        ctx.need("use", step.storage)
        volume = Volume(settings, readable_tables.identifier_of(ctx, step.storage))
        secrets = credentials.load_for_step(ctx, step.storage, step.storage_settings)
        environment = open_environment(ctx, settings, secrets, volume)
        storage, name = STORAGE.parse(step.storage_settings), step.kept_as
        place, hidden = readable_tables.identifier_of(ctx, step.mart), table_views.hidden_fields(ctx, step.mart)
    assert not isinstance(storage, LakeStorageSettings)  # noqa: S101 - refused when the run was planned
    step_ctx.check_stopped()
    rows = _visible_rows(step_ctx, place, hidden)
    if isinstance(storage, DatabaseStorageSettings):
        schema, _, table = name.rpartition(".")
        database = open_database(environment, storage)
        to = JdbcDestination(database, table, schema, DeliveryMode.OVERWRITE, only_own=True)
        return transfer.delivery_result(step_ctx, jdbc.deliver_rows(rows, to, step_ctx.mark))
    folder = str(volume.folder_on_disk(storage.folder))
    file = FileDestination(folder, name, ParquetFormat(), only_own=True, root=volume.root)
    # Where in the storage, not where on this machine.
    sent = replace(files.deliver_files(rows, file, step_ctx.mark), places=(file.file_name,))
    return transfer.delivery_result(step_ctx, sent)


def refresh_mart(step: RefreshMart, step_ctx: StepContext) -> StepResult:
    """Write what the definition returns now."""
    reads: set[str] = set()
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        definition = parse_definition(step.settings)
        place = readable_tables.identifier_of(ctx, step.mart)
        withheld = resource_metadata.withheld_fields(resource_metadata.load(ctx, step.mart).settings)
        drawn = StreamSelection(
            _mart_connector(ctx, step_ctx, step, definition, reads),
            definition.text,
            tuple(column.name for column in definition.columns if column.hidden),
            {column.name: column.type for column in definition.columns if column.type and not column.hidden},
            definition.by is DefinitionType.PATTERN,
        )
    step_ctx.check_stopped()
    if withheld:
        # Before: what arrives has the rights of who shows them, what is stored has not.
        upkeep_executor.drop_hidden(step_ctx, step.mart, place, withheld)
    options = _sync_options(step_ctx, definition, place, reload=step.reload)
    done = sync_stream(step_ctx.tables, place, drawn, SELECTION_STREAM, options, step_ctx.mark)
    for note in done.notes:
        step_ctx.log(note)
    upkeep_executor.drop_fields(step_ctx, place, _dropped_fields(step_ctx, place, definition, done, options.mode))
    if reads:
        # Its lineage is what its rows were made from, whichever way the definition was saved.
        with step_ctx.platform.write(step_ctx.caller) as ctx:
            resource_metadata.save_managed(ctx, step.mart, {"reads": sorted(reads)})
    written = done.written
    step_ctx.log(f"{written.added:,} rows written, {written.removed:,} removed; the data mart has {written.total:,}")
    return StepResult(written.added, written.size, done.bad, {"cursor": done.cursor} if done.cursor else {})


def _dropped_fields(
    step_ctx: StepContext, place: TableIdentifier, definition: MartSettings, done: SyncResult, mode: SyncMode
) -> list[str]:
    """Return the fields that the data mart is to lose: the hidden ones, and those that its definition has no more."""
    if not step_ctx.tables.exists(place):
        return []
    hidden = {fold_name(column.name) for column in definition.columns if column.hidden}
    # What a connector delivers depends on the rows that there are; an increment says nothing of older rows.
    all_arrived = mode in {SyncMode.FULL, SyncMode.MIRROR} and definition.by is not DefinitionType.CONNECTOR
    names = (each.name for each in step_ctx.tables.current_metadata(place).fields)
    gone = all_arrived and done.fields
    return [name for name in names if fold_name(name) in hidden or (gone and fold_name(name) not in done.fields)]


def _mart_connector(
    ctx: RequestContext, step_ctx: StepContext, step: RefreshMart, definition: MartSettings, reads: set[str]
) -> SourceConnector:
    """Return the connector of the rows: the storage, or a connector of the data mart with its own secrets."""
    settings = step_ctx.platform.settings
    if definition.by is DefinitionType.CONNECTOR:
        secrets = credentials.load_for_step(ctx, step.mart, step.settings)
        environment = open_environment(ctx, settings, secrets)
        return connectors.open_source(environment, definition.connection())
    storage = STORAGE.parse(step.storage_settings)
    if isinstance(storage, LakeStorageSettings):
        return _lakehouse_reader(ctx, step_ctx, storage, definition, reads)
    volume = Volume(settings, readable_tables.identifier_of(ctx, step.storage))
    sql = definition.text if definition.by is DefinitionType.SQL else ""
    secrets = credentials.load_for_step(ctx, step.storage, step.storage_settings)
    return connections.storage_connector(open_environment(ctx, settings, secrets, volume), storage, sql)


def _lakehouse_reader(
    ctx: RequestContext, step_ctx: StepContext, storage: LakeStorageSettings, definition: MartSettings, reads: set[str]
) -> LakeSource:
    """Return a reader of the lakehouse as the caller of the run, who needs rights there. What it reads is added."""
    lake = storages.lake_tables(ctx, storage)

    def list_tables() -> list[str]:
        # A pattern matches what all authors can read too: they learn of no other table by its name.
        readable = step_ctx.readable_by_authors(each.uid for each in lake.tables)
        return [each.name for each in lake.tables if each.uid in readable]

    def ask(stream: str) -> DataFrame:
        text = stream if definition.by is DefinitionType.SQL else select_all(stream)
        rows, tables_read = step_ctx.run_query(lake.lakehouse, text)
        reads.update(tables_read)
        return rows

    return LakeSource(ask, list_tables)


def _sync_options(
    step_ctx: StepContext, definition: MartSettings, place: TableIdentifier, *, reload: bool
) -> SyncOptions:
    """Return how rows are loaded; a reload of an incremental mart replaces everything."""
    mode = transfer.sync_mode(definition.mode, reload=reload)
    cursor = definition.cursor if mode is SyncMode.INCREMENTAL else ""
    reached = current_cursor(step_ctx.tables, place, cursor, step_ctx.mark)
    return SyncOptions(mode, definition.keys, cursor, reached, allow_empty=True)


def _visible_rows(step_ctx: StepContext, place: TableIdentifier, hidden: Collection[str]) -> DataFrame:
    """Return the rows of a data mart as its readers see them: what is hidden may still be stored."""
    stored = table_views.retained_fields(step_ctx.tables.current_metadata(place), hidden)
    return step_ctx.tables.read(place).drop(*stored)


def run_checks(step: RunChecks, step_ctx: StepContext) -> StepResult:
    """Run all checks, whatever the result of one is; fail the run after all results are stored."""
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        quality_checks = DATA_MART.parse(step.settings).checks
        place, hidden = readable_tables.identifier_of(ctx, step.mart), table_views.hidden_fields(ctx, step.mart)
    rows = _visible_rows(step_ctx, place, hidden)
    found = [_check_result(check, rows, step_ctx) for check in quality_checks]
    with step_ctx.platform.database.write() as transaction:
        checks.save_results(transaction, place.tenant, place.number, step_ctx.mark, found)
    stopping = ""
    for check, outcome in zip(quality_checks, found, strict=True):
        broken = outcome.state != KEPT
        step_ctx.log(f"{outcome.name}: {outcome.said}", "warning" if broken else "info")
        stopping = stopping or (f"{outcome.name}: {outcome.said}" if broken and check.stops else "")
    if stopping:
        raise DataError(f"A data quality check failed. {stopping}", "Correct the rows at their source.")
    return StepResult(state={"broken": sum(outcome.state != KEPT for outcome in found)})


def _check_result(check: QualityCheck, rows: DataFrame, step_ctx: StepContext) -> CheckResult:
    at = step_ctx.platform.clock()
    try:
        # All who see the data mart can read the error, in which a value of another table might be.
        with query_errors.values_hidden():
            wrong = _violation(check, rows, step_ctx)
    except LakeholdError as error:
        return CheckResult(check.name, UNKNOWN, str(error), at)
    return CheckResult(check.name, BROKEN if wrong else KEPT, wrong or "passed", at)


def _violation(check: QualityCheck, rows: DataFrame, step_ctx: StepContext) -> str:
    """Return a message of what is wrong, or an empty text."""
    match check.kind:
        case CheckKind.NOT_NULL:
            return _count_message(row_checks.count_nulls(rows, check.fields[0]), "have no value")
        case CheckKind.UNIQUE:
            return _count_message(row_checks.count_duplicates(rows, check.fields), "have the same values as another")
        case CheckKind.ACCEPTED_VALUES:
            return _count_message(
                row_checks.count_unexpected(rows, check.fields[0], check.values), "have another value"
            )
        case CheckKind.ROW_COUNT:
            return _row_count_message(check, rows.count())
        case CheckKind.FRESHNESS:
            now = datetime.fromtimestamp(step_ctx.platform.clock() / SECOND, UTC)
            return _freshness_message(check, row_checks.latest_time(rows, check.fields[0]), now)
        case _:
            return _count_message(step_ctx.run_query("", check.sql)[0].count(), "are wrong")


def _count_message(count: int, what: str) -> str:
    return f"{count:,} rows {what}" if count else ""


def _row_count_message(check: QualityCheck, count: int) -> str:
    if count < check.least:
        return f"there are {count:,} rows, expected at least {check.least:,}"
    if check.most is not None and count > check.most:
        return f"there are {count:,} rows, expected at most {check.most:,}"
    return ""


def _freshness_message(check: QualityCheck, newest: datetime | None, now: datetime) -> str:
    if newest is None:
        return "it has no values"
    if (now - newest) / timedelta(hours=1) > check.hours:
        return f"the newest value is {newest:%Y-%m-%d %H:%M}, more than {check.hours:g} hours ago"
    return ""
