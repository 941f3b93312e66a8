"""Probes that use Spark are queries of who makes them: limited, seen, stopped and suspected like any other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from pyspark.sql import SparkSession

from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.errors import LimitExceededError
from lakehold.lake.errors import QueryMemoryError, SourceError
from lakehold.lake.spark.fair_share import FairShare, RunningQuery
from lakehold.lake.spark.queries import Query
from lakehold.runs import worker_client, worker_pool
from lakehold.worker import server as worker_server
from lakehold.worker.server import serve
from lakehold.worker.spark_session import SparkRuntime
from tests.lake.shop import ED, RITA, TENANT, Shop

REFUSAL = QueryMemoryError("The query needs more memory.", "Query less data.")
MEMORY = "SELECT raise_error('java.lang.OutOfMemoryError: as a database that has too many rows makes it')"
LONG = "SELECT sum(hash(id)) FROM range(100000000000000)"


class StubProbe:
    """A probe that waits until it is told to go on, and then does something with Spark."""

    def __init__(self) -> None:
        self.begun, self.go_on = Event(), Event()
        self.uses_spark = True
        self.use: Callable[[SparkSession], object] = lambda _spark: None

    def __call__(
        self, _platform: Platform, _caller: Caller, _request: Mapping[str, Any], start: Callable[[], SparkRuntime], /
    ) -> dict[str, Any]:
        spark = start().spark if self.uses_spark else None
        self.begun.set()
        self.go_on.wait(120)
        if spark is not None:
            self.use(spark)
        return {"message": "It answers."}


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubProbe]:
    found = StubProbe()
    registry = SimpleNamespace(find_workspace=lambda _name: SimpleNamespace(probes=lambda: {"stub": found}))
    monkeypatch.setattr(worker_server, "registry", registry)
    yield found
    found.go_on.set()


@pytest.fixture
def worker(shop: Shop) -> Iterator[tuple[str, SparkRuntime]]:
    """A process of its own that answers queries only."""
    with serve(shop.platform, executes_runs=False) as found:
        yield found


@contextmanager
def probing(shop: Shop, address: str, stub: StubProbe, uid: str = "probe_of_rita") -> Iterator[Future[httpx.Response]]:
    """Let Rita wait for a probe that has begun."""
    body = {"id": uid, "probe": "test.stub", "request": {}}
    with worker_pool._client(shop.platform, RITA, 120) as client, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(client.post, f"{address}{worker_client.PROBE_PATH}", json=body)
        while not stub.begun.wait(1):
            assert not asked.done(), asked.result().text
        try:
            yield asked
        finally:
            stub.go_on.set()


def use_up_memory(spark: SparkSession) -> None:
    """Fail as a source does that cannot be read."""
    try:
        spark.sql(MEMORY).collect()
    except Exception as error:
        raise SourceError("The database could not be read completely.", "Run it again.") from error


def test_a_probe_that_uses_up_memory_makes_nobody_else_a_suspect(
    shop: Shop, worker: tuple[str, SparkRuntime], stub: StubProbe
) -> None:
    address, runtime = worker
    stub.use = use_up_memory
    with (
        probing(shop, address, stub) as asked,
        runtime.queries._register(Query("ed", ED, "Shop", "SELECT 1", 10)) as of_ed,
    ):
        assert runtime.queries._memory_error(of_ed, REFUSAL).field == ""
        stub.go_on.set()
        answer = asked.result(120).json()
        # The probe was there first.
        assert (answer["code"], answer["field"]) == ("memory_shortage", "sql")


def test_if_spark_is_lost_beside_a_probe_the_probe_is_the_suspect(
    shop: Shop, worker: tuple[str, SparkRuntime], stub: StubProbe
) -> None:
    address, runtime = worker
    with (
        probing(shop, address, stub),
        runtime.queries._register(Query("ed", ED, "Shop", "SELECT 1", 10)) as of_ed,
    ):
        assert runtime.queries._lost_error(of_ed).field == ""
        assert runtime.queries._lost == [(TENANT, "rita"), (TENANT, "ed")]


def test_a_probe_counts_as_a_query_and_is_stopped_like_one(
    shop: Shop, worker: tuple[str, SparkRuntime], stub: StubProbe
) -> None:
    address, runtime = worker
    stub.use = lambda spark: spark.sql(LONG).collect()
    with probing(shop, address, stub) as asked:
        load = runtime.load(ED)
        assert load is not None
        assert load.others == 1
        stub.go_on.set()
        assert not worker_pool.WorkerPool(shop.platform, ED, "probe_of_rita").stop(address)
        assert worker_pool.WorkerPool(shop.platform, RITA, "probe_of_rita").stop(address)
        answer = asked.result(120)
        assert (answer.status_code, answer.json()["code"]) == (409, "stopped")
    # Its job is cancelled, else it would be there for ever.
    while runtime.queries._running:
        pass


def test_a_probe_has_no_place_beside_as_many_queries_as_one_may_run(
    shop: Shop, worker: tuple[str, SparkRuntime]
) -> None:
    queries = worker[1].queries
    taken = [queries._slots.take((TENANT, "rita")) for _ in range(shop.platform.settings.queries_at_once)]
    for each in taken:
        each.__enter__()
    with pytest.raises(LimitExceededError, match="queries running"), queries.join("probe", RITA):
        pass
    for each in taken:
        each.__exit__(None, None, None)
    with queries.join("probe", RITA):
        pass


def test_a_probe_without_spark_is_stopped_and_starts_none(
    shop: Shop, worker: tuple[str, SparkRuntime], stub: StubProbe
) -> None:
    address, runtime = worker
    stub.uses_spark = False
    with probing(shop, address, stub) as asked:
        assert not worker_pool.WorkerPool(shop.platform, ED, "probe_of_rita").stop(address)
        assert worker_pool.WorkerPool(shop.platform, RITA, "probe_of_rita").stop(address)
        assert asked.result(120).json()["code"] == "stopped"
        assert not worker_pool.WorkerPool(shop.platform, RITA, "probe_of_rita").stop(address)
    assert "_queries" not in runtime.__dict__


def test_a_probe_that_waits_for_another_system_ends_no_process(spark: SparkSession) -> None:
    ended: list[str] = []
    share = FairShare(spark, 0, lambda _running, _reason: None, ended.append)
    probe, query = (RunningQuery(("acme", "rita"), waits_elsewhere=waits) for waits in (True, False))
    probe.stop_reason = query.stop_reason = "It was stopped."
    assert not share.check([probe], [])
    assert share.check([query], [])
    assert len(ended) == 1
