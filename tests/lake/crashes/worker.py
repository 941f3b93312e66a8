"""A worker whose runs stop at a point that a test has named for each of them, and wait there to be killed.

It is the worker as it is: only the functions at which a run may stop are led through a gate.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterable, Iterator
from functools import partial, wraps
from threading import Event, local
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession

from lakehold.connectors.chat import destination as chat
from lakehold.connectors.database import destination as jdbc
from lakehold.connectors.database import target_table
from lakehold.connectors.destinations import delivery_folder
from lakehold.connectors.files import destination as files
from lakehold.connectors.mail import destination as mail
from lakehold.connectors.sources import sync
from lakehold.connectors.webhook import destination as webhook
from lakehold.kit.settings import Settings
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.lake.spark import spark_session, table_writer
from lakehold.lake.spark.tables import Tables
from lakehold.runs import notifications
from lakehold.runs.run_table import load_run
from lakehold.worker import process, workflows
from lakehold.worker.run_executor import RunExecutor

PLAN, PORT = "CRASH_PLAN", "CRASH_PORT"
HALF = "half written"
_plan: dict[str, str] = json.loads(os.environ.get(PLAN, "{}"))
_here = local()


def park(port: int, run: str) -> None:
    """Report to the test, and wait."""
    with socket.create_connection(("127.0.0.1", port)) as there:
        there.sendall(run.encode())
    Event().wait()


def _park(point: str) -> None:
    run = getattr(_here, "run", "")
    if point and _plan.get(run) == point:
        park(int(os.environ[PORT]), run)


def _gate(owner: Any, name: str, *, before: str = "", after: str = "") -> None:  # noqa: ANN401 - a module or a class
    plain = getattr(owner, name)

    @wraps(plain)
    def gated(*args: Any, **kwargs: Any) -> object:  # noqa: ANN401 - whatever it takes
        _park(before)
        done = plain(*args, **kwargs)
        _park(after)
        return done

    setattr(owner, name, gated)


def _track_run(name: str) -> None:
    """Wrap a method so that its work is attributed to its run."""
    plain: Callable[..., object] = getattr(RunExecutor, name)

    @wraps(plain)
    def named(self: RunExecutor, number: int, *rest: Any) -> object:  # noqa: ANN401 - as above
        _here.run = load_run(self._platform, number).id
        return plain(self, number, *rest)

    setattr(RunExecutor, name, named)


def _write_half(owner: Any, name: str) -> None:  # noqa: ANN401 - as above
    """Where rows are moved into the session that writes them: let one part be written, and of the other a piece."""
    plain: Callable[[SparkSession, DataFrame], DataFrame] = getattr(owner, name)

    @wraps(plain)
    def halved(session: SparkSession, rows: DataFrame) -> DataFrame:
        ready, run = plain(session, rows), getattr(_here, "run", "")
        return _half_of(ready, run) if _plan.get(run) == HALF else ready

    setattr(owner, name, halved)


def _half_of(ready: DataFrame, run: str) -> DataFrame:
    there = partial(park, int(os.environ[PORT]), run)

    def half(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches
        context = TaskContext.get()
        if context is not None and context.partitionId() == 1:
            there()

    return ready.repartition(2).mapInArrow(half, ready.schema)


def _half_staged(plain: Callable[..., None]) -> Callable[..., None]:
    def filled(connection: Any, rows: DataFrame, *rest: Any) -> None:  # noqa: ANN401 - as it is called
        run = getattr(_here, "run", "")
        plain(connection, _half_of(rows, run) if _plan.get(run) == HALF else rows, *rest)

    return filled


def _before_commit(plain: Callable[..., Iterator[str]]) -> Callable[..., Iterator[str]]:
    def statements(*args: Any) -> Iterator[str]:  # noqa: ANN401 - as above
        yield from plain(*args)
        _park("all but committed")

    return statements


def install_gates() -> None:
    """Install all points at which a run may stop."""
    _gate(RunExecutor, "begin", after="run begun")
    _gate(RunExecutor, "_execute", before="step begun", after="written")
    _gate(RunExecutor, "execute_step", after="recorded")
    _gate(RunExecutor, "end", after="ended")
    _gate(notifications, "notify", after="told")
    _gate(RunExecutor, "start_dependents", after="followed")
    for name in ("begin", "execute_step", "end", "start_dependents"):
        _track_run(name)
    _gate(Tables, "create", after="made")
    _gate(table_writer, "conform_rows", after="fields added")
    _gate(sync, "_store_bad_rows", before="bad rows to come", after="bad rows kept")
    _gate(files, "_publish", before="file made", after="file placed")
    _gate(jdbc, "_move_rows", before="staged", after="moved")
    _gate(webhook, "_send_batch", after="one taken")
    _gate(mail, "_send_mail", after="one taken")
    _gate(chat, "_post_message", after="one taken")
    for owner in (table_writer, files, delivery_folder):
        _write_half(owner, "move_to_session")
    target_table.fill_staging = _half_staged(target_table.fill_staging)
    jdbc._statements = _before_commit(jdbc._statements)


def extend_timeouts() -> None:
    """Let all runs proceed at once, with few tasks each, and wait for a locked catalog as long as it takes."""
    spark_session._CONF["spark.sql.shuffle.partitions"] = "2"
    workflows._CONCURRENCY[workflows.RUN_QUEUE] = 100
    plain = IcebergCatalog.spark_settings

    def patient_settings(self: IcebergCatalog) -> dict[str, str]:
        return {name: value.replace("busy_timeout=30000", "busy_timeout=600000") for name, value in plain(self).items()}

    IcebergCatalog.spark_settings = patient_settings  # type: ignore[method-assign]


if __name__ == "__main__":
    install_gates()
    extend_timeouts()
    process.run_worker(Settings())
