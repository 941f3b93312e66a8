"""The steps of a background job (begin, execute, finish), and the context of an attempt. Only a worker imports this."""

import json
import logging
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.errors import LakeholdError
from lakehold.runs.jobs import service, table
from lakehold.runs.run_table import load_caller


@dataclass(frozen=True, slots=True)
class JobContext:
    """One attempt of one job."""

    platform: Platform
    row: table.JobRow
    folder: Path

    @property
    def options(self) -> Mapping[str, object]:
        """The options of the job."""
        found: Mapping[str, object] = json.loads(self.row.options)
        return found

    @property
    def caller(self) -> Caller:
        """The caller that the job runs as."""
        return load_caller(self.row)

    def report_progress(self, progress: int, activity: str) -> None:
        """Store the progress of the job and what it is doing."""
        with self.platform.database.write() as transaction:
            table.update_job(transaction, self.row.id, {"progress": progress, "activity": activity})

    @contextmanager
    def temporary_folder(self) -> Iterator[Path]:
        """Yield an empty temporary folder, without what an earlier attempt left there."""
        folder = self.folder / f"{self.row.id}.rough"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def publish_file(self, file: Path) -> Path:
        """Move a finished file to its final place."""
        return file.replace(self.folder / f"{self.row.id}{file.suffix}")


_log = logging.getLogger("lakehold.runs")
_MAX_ATTEMPTS = 3
_OWNER_ONLY = 0o700

JobOutcome = Mapping[str, object]
"""The values that end the job's row: `error`, or `result` and `rows`."""


def begin_job(platform: Platform, uid: str) -> JobOutcome:
    """Check access again and mark the job as running; return the error, or an empty mapping."""
    row = table.load_row(platform, uid)
    try:
        with platform.write(load_caller(row)) as ctx:
            service.need_job(ctx, row.kind, json.loads(row.options))
            table.update_job(ctx.session.transaction, uid, {"state": table.RUNNING, "started_at": ctx.at})
    except LakeholdError as error:
        if error.retryable:
            raise
        return {"error": str(error)}
    return {}


def execute_job(platform: Platform, uid: str) -> JobOutcome:
    """Execute the job; give it up after several attempts in which the worker died."""
    row = table.load_row(platform, uid)
    if row.tries >= _MAX_ATTEMPTS:
        return {"error": f"The worker was stopped {row.tries} times meanwhile; there are no more retries."}
    with platform.database.write() as transaction:
        table.update_job(transaction, uid, {"tries": row.tries + 1})
    _log.info("job %s started: %s", uid, row.kind)
    folder = table.results_folder(platform.settings.data, row.tenant_id)
    folder.mkdir(parents=True, exist_ok=True, mode=_OWNER_ONLY)
    try:
        # Here, not above: the first review is early enough to load Spark.
        from lakehold.runs.jobs import exports  # noqa: PLC0415

        file, rows = exports.export_access_review(JobContext(platform, row, folder))
    except LakeholdError as error:
        return {"error": str(error)}
    except Exception:  # noqa: BLE001 - the edge: the job gets a message, and the log the rest
        _log.exception("job %s failed", uid)
        return {"error": "Internal error. See the worker's log."}
    return {"result": file.name, "rows": rows}


def finish_job(platform: Platform, uid: str, outcome: JobOutcome) -> None:
    """Store the outcome of the job."""
    state = table.FAILED if "error" in outcome else table.DONE
    values = {"progress": 100, **outcome, "state": state, "activity": "", "ended_at": platform.clock()}
    with platform.database.write() as transaction:
        table.update_job(transaction, uid, values)
    _log.info("job %s is %s", uid, state)
