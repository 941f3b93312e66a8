"""Captures the changes of a database for the datasets of a landing task, which share a replication slot.

First a dataset is loaded, by a snapshot whose position in the log is known; then come the changes behind it, in batches
of whole transactions. Each batch is one snapshot of each table that it changes, with the position in it; then the
progress is saved; then the slot moves. Whatever is repeated after a crash leaves out what a table has already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from secrets import token_hex
from typing import TYPE_CHECKING

from pyspark.sql import types as t

from lakehold.connectors import registry as connectors
from lakehold.connectors.database.change_capture.change_files import ChangeCollector, ChangeFile
from lakehold.connectors.database.change_capture.change_merge import apply_changes, recorded_position, replace_rows
from lakehold.connectors.database.change_capture.replication_source import (
    CapturedTable,
    ReplicationSource,
    SlotState,
    open_replication_source,
)
from lakehold.connectors.database.jdbc import JdbcDatabase, open_database
from lakehold.connectors.database.settings import DatabaseSettings
from lakehold.connectors.database.source import JdbcSource
from lakehold.connectors.error_translation import translate_source_errors
from lakehold.connectors.sources.source import StreamOptions
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.lake import readable_tables
from lakehold.lake.errors import DataError
from lakehold.lake.spark.table_writer import SchemaEvolution, conform_rows
from lakehold.runs.step_context import StepResult
from lakehold.workspaces.spaces import change_captures
from lakehold.workspaces.spaces.change_captures import CapturedDataset, CaptureState, ChangeCapture
from lakehold.workspaces.spaces.executors import connections
from lakehold.workspaces.spaces.settings import TASK
from lakehold.workspaces.spaces.slot_check import describe_slot_problem
from lakehold.workspaces.spaces.tasks.landing import LandingDataset, LandingSettings, SchemaChanges

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lakehold.connectors.registry import ConnectorEnvironment
    from lakehold.connectors.settings import SourceSettings
    from lakehold.lake.iceberg_catalog import TableIdentifier
    from lakehold.runs.step_context import StepContext
    from lakehold.workspaces.spaces.steps import CaptureChanges


def need_captured_database(environment: ConnectorEnvironment, settings: SourceSettings) -> JdbcDatabase:
    """Return the database of a connection, or refuse a connection of another kind."""
    if not isinstance(settings, DatabaseSettings):
        message = "Changes are captured from PostgreSQL only."
        raise InvalidInputError(message, "Use another mode for this connection.", field="datasets")
    environment.need_allowed(settings)
    return open_database(environment, settings)


def check_capture(environment: ConnectorEnvironment, settings: SourceSettings, landing: LandingSettings) -> None:
    """Refuse a landing task whose changes cannot be captured."""
    with open_replication_source(need_captured_database(environment, settings)) as source:
        source.check()
        source.tables({item.stream: item.keys for item in landing.captured()})


def capture_changes(step: CaptureChanges, step_ctx: StepContext) -> StepResult:
    """Load the datasets of a task that are new, and apply all changes that there are by now."""
    landing = TASK.parse(step.settings)
    assert isinstance(landing, LandingSettings)  # noqa: S101 - the step was planned from it
    environment, settings = connections.step_environment(step_ctx, step.connection, step.connection_settings)
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        places = {uid: readable_tables.identifier_of(ctx, uid) for uid in step.datasets.values()}
    targets = [
        CaptureTarget(step.datasets[item.name], item, places[step.datasets[item.name]])
        for item in landing.captured()
        if item.name in step.datasets
    ]
    with open_replication_source(need_captured_database(environment, settings)) as source:
        run = CaptureRun(step, step_ctx, source, landing, targets, (environment, settings))
        return run.execute()


@dataclass(frozen=True, slots=True)
class CaptureTarget:
    """A dataset that follows the changes of a table."""

    uid: str
    item: LandingDataset
    place: TableIdentifier


@dataclass
class CaptureRun:
    """One execution of the step."""

    step: CaptureChanges
    step_ctx: StepContext
    source: ReplicationSource
    landing: LandingSettings
    targets: list[CaptureTarget]
    connection: tuple[ConnectorEnvironment, SourceSettings]
    counts: dict[str, int] = field(default_factory=dict)
    _capture: ChangeCapture = field(init=False)

    def execute(self) -> StepResult:
        """Bring all datasets up to the end of the log as it is now."""
        self.source.check()
        tables = self._tables()
        self._open_slot()
        self._need_published(tables)
        self.source.publish(self._capture.slot, list(tables.values()))
        self._check_slot()
        loads = [each for each in self.targets if self._needs_load(each, tables)]
        if loads:
            self._load(loads, tables)
        until = self.source.end_of_log()
        self._follow_columns(self._tables())
        while self._apply_batch(until):
            self.step_ctx.check_stopped()
        for name, count in self.counts.items():
            self.step_ctx.log(f"{name}: {count:,} rows loaded or changed")
        return StepResult(sum(self.counts.values()), state={"datasets": self.counts})

    @property
    def _state(self) -> CaptureState:
        return self._capture.state

    def _tables(self) -> dict[str, CapturedTable]:
        return self.source.tables({each.item.stream: each.item.keys for each in self.targets})

    def _count(self, target: CaptureTarget, rows: int) -> None:
        self.counts[target.item.name] = self.counts.get(target.item.name, 0) + rows

    def _save(self, state: CaptureState) -> None:
        self._capture = replace(self._capture, state=state)
        with self.step_ctx.platform.write(self.step_ctx.caller) as ctx:
            change_captures.save(ctx, self._capture)

    def _confirm(self, state: CaptureState) -> None:
        """Save that the tables have all changes up to a position, then move the slot there."""
        self._save(state)
        self.source.advance(self._capture.slot, state.confirmed)

    def _open_slot(self) -> None:
        """Find the slot, or make it if no dataset is loaded yet, or all are loaded anew."""
        lake = self.step_ctx.tables.lake
        with self.step_ctx.platform.read(self.step_ctx.caller) as ctx:
            task, connection = ctx.view.resource(self.step.task), ctx.view.resource(self.step.connection)
            name = change_captures.slot_name(lake.installation_id, ctx.session.tenant, task)
            found = change_captures.find(ctx, self.step.task, self.step.connection)
        self._capture = found or ChangeCapture(task, connection, name, CaptureState())
        slot = self.source.slot(name)
        problem = self._source_problem() or _slot_problem(self._capture, name, slot)
        if not problem and not self._begins_anew:
            return
        if not self._begins_anew and self._state.datasets:
            hint = "Reload the task: that makes a new slot, and loads all rows again."
            raise ConflictError(f"Changes cannot be captured any more: {problem}", hint, code="slot_lost")
        if self._leads_elsewhere:
            message = f"The database that the connection led to before has the replication slot {self._capture.slot}"
            self.step_ctx.log(f"{message}, which keeps its log: drop it there by hand.", "warning")
        self._capture = replace(self._capture, slot=name)
        self._save(CaptureState())
        if slot is not None:
            self.source.drop_slot(name)
        # Changes are decoded with the publications that there were at their time.
        self.source.publish(name, list(self._tables().values()))
        self._save(CaptureState(token_hex(8), self.source.create_slot(name), self.source.identity))
        self.step_ctx.log("The replication slot was created.")

    @property
    def _leads_elsewhere(self) -> bool:
        """Whether the slot was made in another database."""
        return self._state.source not in {"", self.source.identity}

    def _source_problem(self) -> str:
        """Return why the log of the database does not go on from where it was read; empty if it does."""
        if self._leads_elsewhere:
            return "the connection leads to another database than before."
        if self.source.end_of_log() < self._state.confirmed:
            return "the database was restored to an earlier state."
        return ""

    def _need_published(self, tables: Mapping[str, CapturedTable]) -> None:
        """Refuse datasets whose tables were taken out of the publication: nobody knows for how long."""
        there = self.source.published(self._capture.slot)
        for target in self.targets:
            table = tables[target.item.stream]
            goes_on = target.uid in self._state.datasets and target.item.name not in self.step.reload
            if goes_on and there is not None and (table.schema, table.name) not in there:
                message = f"The dataset {target.item.name} cannot follow the changes"
                reason = f"{target.item.stream} was taken out of the publication {self._capture.slot}"
                raise ConflictError(f"{message}: {reason}.", "Reload the dataset.", code="slot_lost")

    @property
    def _begins_anew(self) -> bool:
        """Whether all datasets are reloaded, and this step has not loaded any of them before it was broken off."""
        reloads_all = {each.item.name for each in self.targets} <= set(self.step.reload)
        return reloads_all and all(each.load != self.step_ctx.mark for each in self._state.datasets.values())

    def _check_slot(self) -> None:
        """Say how much of its log the database keeps for the slot."""
        slot = self.source.slot(self._capture.slot)
        problem = describe_slot_problem(slot, self.landing.retained_warning_mb)
        with self.step_ctx.platform.write(self.step_ctx.caller) as ctx:
            change_captures.save_check(ctx, self._capture, retained=slot.retained if slot else 0, problem=problem)
        if problem:
            self.step_ctx.log(problem, "warning")

    def _needs_load(self, target: CaptureTarget, tables: Mapping[str, CapturedTable]) -> bool:
        known = self._state.datasets.get(target.uid)
        if target.item.name in self.step.reload:
            return known is None or known.load != self.step_ctx.mark
        lake_table = self.step_ctx.tables.lake.current_metadata(target.place)
        if known is None or lake_table is None:
            return True
        recorded = recorded_position(lake_table, self._state.slot_id)
        if tables[target.item.stream].id != known.table:
            problem = f"{target.item.stream} was dropped and made anew at the source"
        elif recorded is not None and recorded < known.lsn:
            problem = "its table was rolled back"
        else:
            return False
        message = f"The dataset {target.item.name} cannot follow the changes: {problem}."
        raise ConflictError(message, "Reload the dataset.", code="slot_lost")

    def _load(self, targets: list[CaptureTarget], tables: Mapping[str, CapturedTable]) -> None:
        """Replace the rows of datasets by those of one snapshot of the database."""
        with self.source.export_snapshot(f"{self._capture.slot}_{token_hex(3)}") as (snapshot, lsn):
            for target in targets:
                self.step_ctx.check_stopped()
                rows = self._incoming(target, snapshot)
                mark, position = f"{self.step_ctx.mark}/load/{lsn}", f"{self._state.slot_id}:{lsn}"
                with translate_source_errors(target.item.stream, *self.source.database.redactions):
                    written = replace_rows(self.step_ctx.tables, target.place, rows, mark, position)
                table = tables[target.item.stream]
                loaded = CapturedDataset(lsn, self.step_ctx.mark, table.id, table.digest)
                self._save(self._state.with_dataset(target.uid, loaded))
                self._count(target, written.added)
                self.step_ctx.log(f"{target.item.name}: {written.added:,} rows loaded")

    def _incoming(self, target: CaptureTarget, snapshot: str = "") -> DataFrame:
        """Return the rows of a table as its dataset takes them. Its columns are added or widened, if they may be."""
        environment, settings = self.connection
        options = StreamOptions(target.item.stream, None, target.item.parts)
        source = connectors.open_source(environment, settings, options)
        assert isinstance(source, JdbcSource)  # noqa: S101 - the connection is one of a database
        source = replace(source, database=replace(source.database, snapshot=snapshot))
        with translate_source_errors(target.item.stream, *source.redactions):
            rows = source.read(self.step_ctx.tables.session, target.item.stream).rows
            return self._fitting(target, rows)

    def _fitting(self, target: CaptureTarget, rows: DataFrame) -> DataFrame:
        tables, stream = self.step_ctx.tables, target.item.stream
        if not tables.exists(target.place):
            tables.create(target.place, rows.schema)
        match self.landing.schema_changes:
            case SchemaChanges.IGNORE:
                return conform_rows(tables, target.place, rows, SchemaEvolution.KEEP)
            case SchemaChanges.STOP:
                with _columns_changed(stream):
                    return conform_rows(tables, target.place, rows, SchemaEvolution.STRICT)
        return conform_rows(tables, target.place, rows, SchemaEvolution.MERGE)

    def _follow_columns(self, tables: Mapping[str, CapturedTable]) -> None:
        """Compare the columns of tables that were altered, and treat them as the task says."""
        for target in self.targets:
            known, table = self._state.datasets[target.uid], tables[target.item.stream]
            if known.digest == table.digest:
                continue
            self._incoming(target)
            self.step_ctx.log(f"{target.item.name}: the columns of {target.item.stream} were changed")
            self._save(self._state.with_dataset(target.uid, replace(known, digest=table.digest)))

    def _apply_batch(self, until: int) -> bool:
        """Apply the next transactions; return whether there may be more."""
        files = {each.uid: self._change_file(each) for each in self.targets}
        collector = ChangeCollector(files.values())
        slot = self._capture.slot
        collector.feed(self.source.peek(slot, slot, until, self.landing.batch_changes))
        # What was read of fewer changes than were asked for is all that there is.
        is_last = collector.messages < self.landing.batch_changes
        state, tables = self._state, self.step_ctx.tables
        mark, position = f"{self.step_ctx.mark}/{collector.end}", f"{state.slot_id}:{collector.end}"
        for target in self.targets:
            file = files[target.uid]
            if file.is_empty:
                continue
            written = apply_changes(tables, target.place, file, mark, position)
            self._count(target, file.counts.total)
            file.path.unlink(missing_ok=True)
            if written.snapshot is not None:
                known = replace(state.datasets[target.uid], lsn=collector.end)
                state = state.with_dataset(target.uid, known)
        confirmed = max(collector.end, until if is_last else 0, state.confirmed)
        self._confirm(replace(state, confirmed=confirmed))
        return not is_last

    def _change_file(self, target: CaptureTarget) -> ChangeFile:
        tables = self.step_ctx.tables
        fields = tables.schema(target.place).fields
        there = recorded_position(tables.current_metadata(target.place), self._state.slot_id) or 0
        return ChangeFile(
            self.step_ctx.folder / f"{target.item.name}.parquet",
            target.item.stream,
            self._state.datasets[target.uid].table,
            [each.name for each in fields],
            target.item.keys,
            max(there, self._state.datasets[target.uid].lsn, self._state.confirmed),
            [each.name for each in fields if isinstance(each.dataType, t.ArrayType)],
        )


def _slot_problem(capture: ChangeCapture, name: str, slot: SlotState | None) -> str:
    """Return why a slot does not have all changes behind those that were applied; empty if it has them."""
    state = capture.state
    if not state.slot_id:
        return "the slot was not made yet."
    if capture.slot != name:
        return f"this installation was moved, and the slot {capture.slot} belongs to the one before."
    if slot is None:
        return "its replication slot was dropped."
    if slot.is_lost or not slot.is_ours:
        return "its replication slot was invalidated or replaced at the source."
    if slot.confirmed > state.confirmed:
        return "somebody else has read its replication slot."
    return ""


@contextmanager
def _columns_changed(stream: str) -> Iterator[None]:
    """Say of columns that do not fit that they were changed at the source."""
    try:
        yield
    except DataError as error:
        message = f"The columns of {stream} have changed. {error.message}"
        raise ConflictError(
            message, "Prepare the task again, or let it apply changes.", code="columns_changed"
        ) from error
