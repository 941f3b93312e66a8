"""Durable workflows on DBOS: a mail, a job, a run, a periodic task.

The DBOS tables lie in a file or schema of their own. A workflow has an id made from what it is about, and the same id
is never run twice. Its steps are recorded as they end, and after a crash it continues behind the last of them; every
step may be begun twice and has the same effect as once.
"""

import logging
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import ParamSpec

from dbos import DBOS, DBOSConfig, SetWorkflowID, StepOptions, WorkflowStatusString

from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from lakehold.runs import notifications
from lakehold.runs.jobs import runner
from lakehold.runs.scheduler.housekeeping import PeriodicTask
from lakehold.worker.run_executor import RunExecutor

# Kept by hand: one that follows the source would leave every run behind that was begun before an upgrade. It changes
# only together with the steps of a workflow.
APPLICATION_VERSION = "1"
APPLICATION_NAME = "lakehold"
DBOS_SCHEMA = "lakehold_runs"

MAIL_QUEUE, JOB_QUEUE, RUN_QUEUE, PERIODIC_QUEUE = "mails", "jobs", "runs", "ticks"
_CONCURRENCY = {MAIL_QUEUE: 4, JOB_QUEUE: 1, RUN_QUEUE: 4, PERIODIC_QUEUE: 2}
_POLL_SECONDS = 0.5
_RETENTION = timedelta(days=7)
_DELETE_BATCH = 500

P = ParamSpec("P")


class WorkflowEngine:
    """The DBOS instance of this process."""

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
        """Register the queues and start taking work from them."""
        DBOS.launch()
        for name, at_once in _CONCURRENCY.items():
            DBOS.register_queue(
                name, worker_concurrency=at_once, polling_interval_sec=_POLL_SECONDS, on_conflict="always_update"
            )

    def enqueue(self, queue: str, name: str, workflow: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
        """Enqueue a workflow; there is only one with the same id."""
        with SetWorkflowID(name):
            DBOS.enqueue_workflow(queue, workflow, *args, **kwargs)

    def executors_with_pending_work(self) -> set[str]:
        """Return the workers that have begun workflows and not ended them."""
        begun = DBOS.list_workflows(status=WorkflowStatusString.PENDING.value, load_input=False, load_output=False)
        return {each.executor_id for each in begun if each.executor_id}

    def recover(self, workers: Iterable[str]) -> None:
        """Recover the workflows that these dead workers have begun."""
        # The one way that does not run twice what a third worker has adopted meanwhile.
        DBOS._recover_pending_workflows(sorted(workers))  # noqa: SLF001

    def delete_finished(self) -> int:
        """Delete workflows that ended long ago; return how many."""
        ended = [WorkflowStatusString.SUCCESS.value, WorkflowStatusString.ERROR.value]
        before = (datetime.now(UTC) - _RETENTION).isoformat()
        found = DBOS.list_workflows(
            status=ended, end_time=before, limit=_DELETE_BATCH, load_input=False, load_output=False
        )
        if found:
            DBOS.delete_workflows([each.workflow_id for each in found])
        return len(found)

    def stop(self, patience: int) -> None:
        """Stop taking work, and wait so many seconds for running workflows."""
        began = time.monotonic()
        DBOS.destroy(workflow_completion_timeout_sec=patience)
        logging.getLogger(__name__).debug("workflows stopped in %.1f s", time.monotonic() - began)


def _config(settings: Settings, worker: str) -> DBOSConfig:
    config: DBOSConfig = {
        "name": APPLICATION_NAME,
        "application_version": APPLICATION_VERSION,
        "executor_id": worker,
        "log_level": "WARNING",
        "enable_otlp": False,
    }
    if settings.database_url.startswith("sqlite"):
        config["system_database_url"] = f"sqlite:///{settings.data / 'runs.sqlite'}"
    else:
        config["system_database_url"] = settings.database_url
        config["dbos_system_schema"] = DBOS_SCHEMA
    return config


def _step(name: str, *, retried: bool = False) -> StepOptions:
    """Return the options of a step: its recorded name, which never changes, and whether it is retried.

    A workflow that resumes after an upgrade finds its recorded steps by name. Steps that only read and write our own
    database are retried, since another transaction may have been first.
    """
    if retried:
        return {"name": name, "retries_allowed": True, "max_attempts": 5, "interval_seconds": 0.2}
    return {"name": name, "retries_allowed": False}


class Workflows:
    """The workflow functions of this process."""

    def __init__(self, platform: Platform, tasks: Iterable[PeriodicTask], run_executor: RunExecutor) -> None:
        self._platform, self._run_executor = platform, run_executor
        self._tasks = {task.name: task for task in tasks}
        self.active_count = 0
        """The number of workflows that run in this process."""
        self._lock = Lock()
        self.mail = self._register("mail", self._mail)
        self.job = self._register("job", self._job)
        self.run = self._register("run", self._run)
        self.tick = self._register("tick", self._tick)

    def _register(self, name: str, do: Callable[P, None]) -> Callable[P, None]:
        """Register a workflow that is counted while it runs."""

        @DBOS.workflow(name=name)
        def workflow(*args: P.args, **kwargs: P.kwargs) -> None:
            with self._lock:
                self.active_count += 1
            try:
                do(*args, **kwargs)
            finally:
                with self._lock:
                    self.active_count -= 1

        return workflow

    def _mail(self, number: int, tries: int) -> None:
        problem = DBOS.run_step(_step("send"), notifications.send, self._platform, number, tries)
        record = _step("write_down", retried=True)
        DBOS.run_step(record, notifications.record_result, self._platform, number, tries, problem)

    def _job(self, uid: str) -> None:
        outcome = DBOS.run_step(_step("begin", retried=True), runner.begin_job, self._platform, uid)
        if not outcome:
            outcome = DBOS.run_step(_step("do"), runner.execute_job, self._platform, uid)
        DBOS.run_step(_step("end", retried=True), runner.finish_job, self._platform, uid, outcome)

    def _run(self, number: int, _tries: int = 0) -> None:
        # Workflows that earlier releases have begun bring the attempt along.
        executor = self._run_executor
        problem, count = DBOS.run_step(_step("Running.begin", retried=True), executor.begin, number)
        for place in range(count):
            problem = problem or DBOS.run_step(_step("Running.step"), executor.execute_step, number, place)
        DBOS.run_step(_step("Running.end", retried=True), executor.end, number, problem)
        DBOS.run_step(_step("Running.follow", retried=True), executor.start_dependents, number)

    def _tick(self, name: str) -> None:
        if name in self._tasks:
            DBOS.run_step(_step("Tick.run"), self._tasks[name].run, self._platform)
