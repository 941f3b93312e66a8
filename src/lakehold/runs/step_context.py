"""The context that an executor is given for a step of a run, and the result that it returns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError
from lakehold.lake.errors import QueryError, RefusedQueryError, StoppedError
from lakehold.runs import run_table
from lakehold.runs.authors import describe_author, need_authors
from lakehold.runs.run_table import RunRow
from lakehold.workspaces import registry

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lakehold.lake.spark.tables import Tables
    from lakehold.worker.spark_session import SparkRuntime

_OWNER_ONLY = 0o700
_QUERY_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of a step."""

    rows: int = 0
    size: int = 0
    bad: int = 0
    """Rejected rows, stored with the reason."""
    state: Mapping[str, object] = field(default_factory=dict)
    """What the next run has to know: a cursor, a place."""


@dataclass(frozen=True, slots=True)
class StepContext:
    """The context in which a worker executes a step."""

    platform: Platform
    spark_runtime: SparkRuntime
    row: RunRow
    """The run, as it was when the step began."""
    number: int
    """The place of the step."""
    folder: Path
    """A temporary folder, empty at first and deleted in the end."""
    authors: tuple[Caller, ...] = ()
    """The authors of what the step executes, besides its caller: rows are read that all of them may read."""

    @property
    def caller(self) -> Caller:
        """The caller that the run is executed as."""
        return run_table.load_caller(self.row)

    @property
    def mark(self) -> str:
        """The idempotency mark of this step of this run: a write with the same mark is done once."""
        return f"{self.row.id}/{self.number}"

    @property
    def retained_folder(self) -> Path:
        """A folder for what an interrupted step must find again; deleted some time after the run."""
        folder = self.platform.settings.data / "runs" / "kept" / f"{self.row.n}-{self.number}"
        folder.mkdir(parents=True, exist_ok=True, mode=_OWNER_ONLY)
        return folder

    @property
    def tables(self) -> Tables:
        """The tables, as the platform sees them."""
        return self.spark_runtime.tables

    def run_query(self, workspace: str, text: str) -> tuple[DataFrame, frozenset[str]]:
        """Return the rows of a query as the caller may read them, and its tables, which all authors must read too."""
        analyse = partial(self._analyse, workspace=workspace, text=text)
        for author in self.authors:
            # Before the caller: an error must not tell the author what only the caller may know.
            if author.principal != self.caller.principal:
                self._need_query_of(author, analyse)
        rows, reads = analyse(self.caller)
        self.need_readable_by_authors(reads)
        return rows, reads

    def _analyse(self, caller: Caller, workspace: str, text: str) -> tuple[DataFrame, frozenset[str]]:
        try:
            return self.spark_runtime.queries.analyse(caller, workspace, text, seconds=_QUERY_SECONDS)
        except RefusedQueryError as error:
            with self.platform.read(self.caller) as ctx:
                resource = ctx.view.uid(self.row.resource_id)
            self.platform.audit_refusal(caller, "run", resource, error.message)
            raise

    def _need_query_of(self, author: Caller, analyse: Callable[..., object]) -> None:
        try:
            analyse(author)
        except LakeholdError as error:
            with self.platform.read(self.caller) as ctx:
                who = describe_author(ctx, author, ctx.view.uid(self.row.resource_id))
            raise QueryError(f"{who} cannot run its query: {error.message}", error.hint) from error

    def readable_by_authors(self, tables: Iterable[str]) -> frozenset[str]:
        """Return those of the tables that all authors of the definition may read."""
        with self.platform.read(self.caller) as ctx:
            subjects = [author.principal for author in self.authors]
            return frozenset(
                uid for uid in tables if all(ctx.session.check(each, _read_action(ctx, uid), uid) for each in subjects)
            )

    def need_readable_by_authors(self, tables: Iterable[str]) -> None:
        """Refuse tables that an author of the definition may not read."""

        def need(ctx: RequestContext) -> None:
            for uid in tables:
                ctx.need(_read_action(ctx, uid), uid)

        with self.platform.read(self.caller) as ctx:
            need_authors(ctx, self.authors, ctx.view.uid(self.row.resource_id), need)

    def load_progress(self) -> Mapping[str, object]:
        """Return the progress that was saved for this step."""
        step = run_table.load_step(self.platform, self.row.n, self.number)
        progress: Mapping[str, object] = json.loads(step.saved_state)
        return progress

    def save_progress(self, progress: Mapping[str, object]) -> None:
        """Save the progress of this step, so that it is there after a crash."""
        run_table.update_step(self.platform, self.row.n, self.number, saved_state=json.dumps(dict(progress)))

    def log(self, text: str, level: str = "info") -> None:
        """Write a line to the log of the run."""
        run_table.write_log(self.platform, self.row, self.number, text, level)

    def check_stopped(self) -> None:
        """Raise `StoppedError` if the run is being stopped."""
        if run_table.load_run(self.platform, self.row.n).state == run_table.STOPPING:
            raise StoppedError(run_table.STOPPED_MESSAGE)


def _read_action(ctx: RequestContext, uid: str) -> str:
    return registry.readable_kinds()[ctx.view.kind(ctx.view.resource(uid))]
