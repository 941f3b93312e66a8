"""Runs with long tasks and people with short questions, in one Spark of two threads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from lakehold.lake.errors import StoppedError
from lakehold.lake.spark.fair_share import without_task_retries
from lakehold.lake.spark.queries import Query, QueryService
from lakehold.lake.spark.session_pool import UserSessions
from lakehold.runs import heartbeat
from tests.lake.shop import ED, Shop

TASKS = 3
SECONDS = 60
SMALL = "SELECT count(*) FROM raw.orders"


def queries(shop: Shop, spark: SparkSession, seconds: int) -> QueryService:
    """With little patience."""
    platform = shop.platform
    with platform.database.read() as transaction:
        address = heartbeat.worker_addresses(transaction)[0]
    persons = UserSessions(spark, platform.keys, platform.clock, address)
    limits = {"queries_at_once": 2, "query_rows": 100, "query_megabytes": 1, "query_patience": 1}
    settings = platform.settings.model_copy(update={**limits, "query_seconds": seconds})
    return QueryService(spark, persons, settings)


@dataclass(frozen=True)
class Run:
    """Tasks that wait for somebody else, as for a slow API: for minutes, if need be."""

    folder: Path
    spark: SparkSession
    once: bool

    @property
    def begun(self) -> int:
        """How often one was begun."""
        return len(list(self.folder.glob("begun-*")))

    def sum(self) -> int:
        """One for each of them."""
        folder = self.folder

        def waits(_: Iterable[int]) -> Iterator[int]:
            (folder / f"begun-{uuid4()}").touch()
            while not (folder / "go").exists():
                Event().wait(0.05)
            yield 1

        with without_task_retries(self.spark) if self.once else nullcontext():
            return self.spark.sparkContext.parallelize(range(TASKS), TASKS).mapPartitions(waits).sum()

    @contextmanager
    def at_work(self) -> Iterator[Future[int]]:
        """As long as the block lasts, at the least. By then it has all that there is."""
        with ThreadPoolExecutor(1) as pool:
            busy = pool.submit(self.sum)
            try:
                while self.begun < 2:
                    assert not busy.done()
                yield busy
            finally:
                (self.folder / "go").touch()


def test_a_question_is_answered_beside_a_run_that_holds_all_there_is(
    shop: Shop, spark: SparkSession, tmp_path: Path
) -> None:
    run = Run(tmp_path, spark, once=False)
    with run.at_work() as busy:
        found = queries(shop, spark, SECONDS).run(Query("beside", ED, "Shop", SMALL, 10))
        assert sum(batch.num_rows for batch in found.batches) == 1
        assert not busy.done()
    # What was put back was begun anew, and nothing is missing or there twice.
    assert busy.result(SECONDS) == TASKS
    assert run.begun > TASKS


def test_what_must_not_be_done_twice_is_not_put_back(shop: Shop, spark: SparkSession, tmp_path: Path) -> None:
    run = Run(tmp_path, spark, once=True)
    with run.at_work() as busy, pytest.raises(StoppedError, match="took longer"):
        queries(shop, spark, 4).run(Query("beside", ED, "Shop", SMALL, 10))
    assert busy.result(SECONDS) == TASKS
    assert run.begun == TASKS
