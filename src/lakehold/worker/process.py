"""The worker process: claims work, sends heartbeats, and takes over from workers that are dead; and the query worker,
which only answers queries, so that one that takes it down takes no run with it.
"""

import logging
import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Event

import sqlalchemy as sa

from lakehold import workspaces
from lakehold.api.http import json_logging
from lakehold.catalog import credentials
from lakehold.directory import model_upgrade
from lakehold.directory.platform import Platform
from lakehold.kit import parent_watch
from lakehold.kit.clock import Moment
from lakehold.kit.errors import LakeholdError
from lakehold.kit.settings import Settings
from lakehold.lake import iceberg_catalog
from lakehold.ledger import outbox
from lakehold.runs import heartbeat, queue
from lakehold.runs import run_table as states
from lakehold.runs.heartbeat import exit_process
from lakehold.runs.jobs import table
from lakehold.runs.run_table import run_table
from lakehold.runs.scheduler import housekeeping
from lakehold.worker import workflows
from lakehold.worker.run_executor import RunExecutor, spark_job_tag, step_executors
from lakehold.worker.server import serve
from lakehold.worker.spark_session import SparkRuntime
from lakehold.workspaces import registry

_log = logging.getLogger("lakehold.runs")
_POLL_SECONDS = 0.5
_STOP_SECONDS = 20
_MAX_CLAIMED_RUNS = 50


class Worker:
    """One process that does the background work of the platform; there may be several."""

    def __init__(
        self,
        platform: Platform,
        run_executor: RunExecutor,
        spark_runtime: SparkRuntime,
        address: str = "",
        tasks: Iterable[housekeeping.PeriodicTask] = (),
    ) -> None:
        self.id = _worker_id()
        self._platform = platform
        self._engine = workflows.WorkflowEngine(platform, self.id)
        self._tasks = [
            *housekeeping.housekeeping_tasks(),
            *tasks,
            housekeeping.PeriodicTask("forget runs", 3600, lambda _: self._engine.delete_finished()),
        ]
        self._spark_runtime = spark_runtime
        self._run_executor = run_executor
        self._workflows = workflows.Workflows(platform, self._tasks, run_executor)
        self._due_tasks = housekeeping.DueTasks(self._tasks)
        self._heartbeat = heartbeat.HeartbeatThread(platform, self.id, address)
        self._monitor = heartbeat.HeartbeatMonitor(platform.settings.worker_silence)
        self._enqueued_mails: set[str] = set()
        self._next_check = 0.0

    def run(self, stop: Event) -> None:
        """Work until the event is set; running workflows are then given some time to end."""
        self._heartbeat.start()
        self._engine.launch()
        _log.info("worker %s is ready", self.id)
        while not stop.wait(_POLL_SECONDS):
            self._poll()
        self._shut_down()

    def exit_for_restart(self, why: str) -> None:
        """Exit this process so that another one is started; its work may be taken over at once."""
        _log.critical("%s; worker %s ends", why, self.id)
        try:
            with self._platform.database.write() as transaction:
                self._run_executor.release_steps(transaction)
                heartbeat.remove_worker(transaction, self.id)
        finally:
            # Without Spark it exits as well, and answers those before who wait for it.
            if not self._spark_runtime.kill():
                exit_process(os.EX_SOFTWARE)

    def _poll(self) -> None:
        try:
            if time.monotonic() >= self._next_check:
                self._next_check = time.monotonic() + self._heartbeat.interval
                self._recover_dead_workers()
            self._enqueue_work()
        except (LakeholdError, sa.exc.SQLAlchemyError) as error:
            # The database is busy or away; the next round finds what this one did not.
            _log.warning("worker %s: %s", self.id, type(error).__name__)

    def _recover_dead_workers(self) -> None:
        # In this order: who has begun something by now is known by then, or gone.
        begun = self._engine.executors_with_pending_work()
        with self._platform.database.read() as transaction:
            counts = heartbeat.heartbeat_counts(transaction)
        dead = self._monitor.dead_workers(counts) - {self.id}
        if dead:
            with self._platform.database.write() as transaction:
                for worker in dead:
                    heartbeat.remove_worker(transaction, worker)
        left = begun - (counts.keys() - dead)
        if left:
            _log.warning("worker %s takes over from %s", self.id, ", ".join(sorted(left)))
            self._engine.recover(left)

    def _enqueue_work(self) -> None:
        at = self._platform.clock()
        with self._platform.database.read() as transaction:
            jobs = table.waiting_jobs(transaction)
            has_smtp = self._platform.settings.smtp.get_secret_value()
            sent = (outbox.MAIL, outbox.WEBHOOK) if has_smtp else (outbox.WEBHOOK,)
            mails = outbox.due_messages(transaction, at, kinds=sent)
        for uid in jobs:
            self._engine.enqueue(workflows.JOB_QUEUE, uid, self._workflows.job, uid)
            with self._platform.database.write() as transaction:
                table.update_job(transaction, uid, {"state": table.QUEUED}, unless=table.ENDED | {table.RUNNING})
        self._run_executor.due_triggers.start_due(self._platform, at)
        self._enqueue_runs(at)
        for mail in mails:
            if mail.attempt not in self._enqueued_mails:
                name = f"mail-{mail.attempt}"
                self._engine.enqueue(workflows.MAIL_QUEUE, name, self._workflows.mail, mail.id, mail.tries)
        self._enqueued_mails = {mail.attempt for mail in mails}
        for task, slot in self._due_tasks.due(at):
            self._engine.enqueue(workflows.PERIODIC_QUEUE, f"tick-{task.name}-{slot}", self._workflows.tick, task.name)

    def _enqueue_runs(self, at: Moment) -> None:
        c, database = run_table.c, self._platform.database
        with database.read() as transaction:
            open_ = sa.select(c.n, c.state).where(c.state.in_({states.QUEUED, states.WAITING, states.STOPPING}))
            found = transaction.connection.execute(open_).all()
        for row in found:
            if row.state == states.STOPPING:
                self._spark_runtime.cancel(spark_job_tag(row.n))
        if all(row.state == states.STOPPING for row in found):
            return
        with database.write(queue.QUEUE_LOCK) as transaction:
            begun = queue.claim_runs(
                transaction, at, most=_MAX_CLAIMED_RUNS, at_once=self._platform.settings.runs_at_once
            )
        for number, workflow in begun:
            self._engine.enqueue(workflows.RUN_QUEUE, workflow, self._workflows.run, number)

    def _shut_down(self) -> None:
        _log.info("worker %s stops", self.id)
        self._engine.stop(_STOP_SECONDS if self._workflows.active_count else 0)
        # Before Spark ends, and with it all that is at work.
        with self._platform.database.write() as transaction:
            self._run_executor.release_steps(transaction)
        if "lakehold.lake.spark.spark_session" in sys.modules:
            sys.modules["lakehold.lake.spark.spark_session"].stop()
        self._heartbeat.stop()
        if self._workflows.active_count:
            # What did not end in time is begun again elsewhere; waiting for its thread would be waiting for it.
            exit_process(0)


class QueryWorker:
    """A process that answers queries and does nothing else, so that it can end at any time."""

    def __init__(self, platform: Platform, spark_runtime: SparkRuntime, address: str) -> None:
        self.id = _worker_id()
        self._platform = platform
        self._spark_runtime = spark_runtime
        self._heartbeat = heartbeat.HeartbeatThread(platform, self.id, address)

    def run(self, stop: Event) -> None:
        """Answer queries until the event is set."""
        self._heartbeat.start()
        _log.info("query worker %s answers queries", self.id)
        stop.wait()
        self._heartbeat.stop()
        if "lakehold.lake.spark.spark_session" in sys.modules:
            # Whatever is under way is sent to another process.
            sys.modules["lakehold.lake.spark.spark_session"].stop(at_once=True)
            exit_process(0)

    def exit_for_restart(self, why: str) -> None:
        """Exit this process, after its queries are answered, so that another one is started."""
        _log.critical("%s; query worker %s ends", why, self.id)
        if not self._spark_runtime.kill():
            exit_process(os.EX_SOFTWARE)


def _worker_id() -> str:
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"


def run_worker(settings: Settings) -> None:
    """Run a worker until SIGINT or SIGTERM."""
    with _open_worker(settings, executes_runs=True) as (platform, address, spark_runtime, stop):
        run_executor = RunExecutor(platform, workspaces.runnables(), step_executors, spark_runtime)
        tasks = [
            task
            for workspace in registry.all_workspaces()
            for task in workspace.periodic_tasks(lambda: spark_runtime.tables)
        ]
        worker = Worker(platform, run_executor, spark_runtime, address, tasks)
        spark_runtime.on_stuck = worker.exit_for_restart
        with ExitStack() as services:
            for workspace in registry.all_workspaces():
                for service in workspace.services(platform):
                    services.enter_context(service)
            worker.run(stop)


def run_query_worker(settings: Settings) -> None:
    """Run a query worker until SIGINT or SIGTERM."""
    with _open_worker(settings, executes_runs=False) as (platform, address, spark_runtime, stop):
        worker = QueryWorker(platform, spark_runtime, address)
        spark_runtime.on_stuck = worker.exit_for_restart
        worker.run(stop)


@contextmanager
def _open_worker(settings: Settings, *, executes_runs: bool) -> Iterator[tuple[Platform, str, SparkRuntime, Event]]:
    """Open the platform and serve; yield it, the address, Spark, and the event of SIGINT or SIGTERM."""
    json_logging.configure_logging()
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    parent_watch.watch_parent()
    platform = Platform(settings)
    model_upgrade.migrate(platform, workspaces.models())
    iceberg_catalog.refuse_foreign_warehouse(platform.settings)
    credentials.protect_headers(platform)
    try:
        with serve(platform, executes_runs=executes_runs) as (address, spark_runtime):
            yield platform, address, spark_runtime, stop
    finally:
        platform.close()
