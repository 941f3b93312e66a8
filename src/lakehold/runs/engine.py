"""Durable workflows: DBOS, in a file or schema of its own beside the other tables.

A workflow has a name of its own, made from what it is about; the same name is never run twice. Its steps are written
down as they end, and after a crash it goes on behind the last of them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import ParamSpec

from dbos import DBOS, DBOSConfig, SetWorkflowID, WorkflowStatusString

from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings

# Kept by hand: one that follows the source would leave every run behind that was begun before an upgrade. It changes
# only together with the steps of a workflow.
VERSION = "1"
NAME = "lakehold"
SCHEMA = "lakehold_runs"

MAILS, JOBS, RUNS, TICKS = "mails", "jobs", "runs", "ticks"
_AT_ONCE = {MAILS: 4, JOBS: 1, RUNS: 4, TICKS: 2}
_POLL = 0.5
_KEPT = timedelta(days=7)
_MANY = 500

P = ParamSpec("P")


class Engine:
    """The workflows of this process."""

    def __init__(self, platform: Platform, worker: str) -> None:
        log = logging.getLogger("dbos")
        if not log.handlers:
            # Without one of ours it would bring its own, and write beside everybody else.
            log.addHandler(logging.NullHandler())
        config = _config(platform.settings, worker)
        if not config.get("dbos_system_schema"):
            # In a file, several that make the tables at once would be in each other's way. PostgreSQL has turns of its
            # own for this, and would wait for ever for somebody who waits for ours.
            with platform.database.write():
                DBOS.migrate(str(config["system_database_url"]))
        DBOS(config=config)

    def launch(self) -> None:
        """Begin to take work from the queues."""
        DBOS.launch()
        for name, at_once in _AT_ONCE.items():
            DBOS.register_queue(
                name, worker_concurrency=at_once, polling_interval_sec=_POLL, on_conflict="always_update"
            )

    def run(self, queue: str, name: str, workflow: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
        """Let a workflow be run by some worker. Of the same name there is only one."""
        with SetWorkflowID(name):
            DBOS.enqueue_workflow(queue, workflow, *args, **kwargs)

    def begun_by(self) -> set[str]:
        """The workers that have begun something and not ended it."""
        begun = DBOS.list_workflows(status=WorkflowStatusString.PENDING.value, load_input=False, load_output=False)
        return {each.executor_id for each in begun if each.executor_id}

    def adopt(self, workers: Iterable[str]) -> None:
        """Let others go on with what these workers began: they are dead."""
        # The one way that does not run twice what a third worker has adopted meanwhile.
        DBOS._recover_pending_workflows(sorted(workers))  # noqa: SLF001

    def forget(self) -> int:
        """Remove what ended long ago; how many that were."""
        ended = [WorkflowStatusString.SUCCESS.value, WorkflowStatusString.ERROR.value]
        before = (datetime.now(UTC) - _KEPT).isoformat()
        found = DBOS.list_workflows(status=ended, end_time=before, limit=_MANY, load_input=False, load_output=False)
        if found:
            DBOS.delete_workflows([each.workflow_id for each in found])
        return len(found)

    def stop(self, patience: int) -> None:
        """Take nothing more, and let what runs end, for so many seconds."""
        began = time.monotonic()
        DBOS.destroy(workflow_completion_timeout_sec=patience)
        logging.getLogger(__name__).debug("workflows stopped in %.1f s", time.monotonic() - began)


def _config(settings: Settings, worker: str) -> DBOSConfig:
    config: DBOSConfig = {
        "name": NAME,
        "application_version": VERSION,
        "executor_id": worker,
        "log_level": "WARNING",
        "enable_otlp": False,
    }
    if settings.database_url.startswith("sqlite"):
        config["system_database_url"] = f"sqlite:///{settings.data / 'runs.sqlite'}"
    else:
        config["system_database_url"] = settings.database_url
        config["dbos_system_schema"] = SCHEMA
    return config
