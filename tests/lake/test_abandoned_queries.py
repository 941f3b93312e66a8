"""An analysis that does not end keeps nobody waiting, and counts as one of its user's queries until it has ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakehold.directory.caller import Caller
from lakehold.kit.errors import LimitExceededError
from lakehold.kit.settings import Settings
from lakehold.lake.errors import StoppedError
from lakehold.lake.spark import queries as service
from lakehold.lake.spark.queries import Query, QueryService
from lakehold.lake.spark.session_pool import UserSessions
from tests.lake.shop import ED, RITA, Shop

ENDLESS, SMALL = "SELECT 'endless'", "SELECT 1"
Ask = Callable[[QueryService, Caller, str], object]


def describe(queries: QueryService, caller: Caller, text: str) -> object:
    return queries.describe(Query(f"of_{caller.member}", caller, "Shop", text, 0))


def run(queries: QueryService, caller: Caller, text: str) -> object:
    return queries.run(Query(f"of_{caller.member}", caller, "Shop", text, 10))


class Analysis:
    """Spark's analyser, which does not come to an end with one text until it is told to."""

    def __init__(self, queries: QueryService) -> None:
        self._analyse = queries._guard.analyse
        self.begun, self.end = Event(), Event()
        queries._guard.analyse = self.analyse  # type: ignore[method-assign]

    def analyse(self, session: SparkSession, text: str) -> DataFrame:
        if text == ENDLESS:
            self.begun.set()
            self.end.wait()
        return self._analyse(session, text)


@pytest.fixture
def queries(spark: SparkSession, shop: Shop, tmp_path: Path) -> QueryService:
    limits = Settings(data=tmp_path, queries_at_once=1, analysis_seconds=1, query_patience=3_600)
    return QueryService(spark, UserSessions(spark, shop.platform.keys, shop.platform.clock, ""), limits)


@pytest.fixture
def analysis(queries: QueryService) -> Iterator[Analysis]:
    found = Analysis(queries)
    yield found
    found.end.set()


@pytest.mark.parametrize("ask", [describe, run])
def test_an_analysis_that_takes_too_long_is_left(
    queries: QueryService, analysis: Analysis, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(LimitExceededError, match="not understood within 1 second"):
        ask(queries, RITA, ENDLESS)
    _take_time(queries, monkeypatch)
    with pytest.raises(LimitExceededError, match="You have 1 queries running"):
        ask(queries, RITA, SMALL)
    assert ask(queries, ED, SMALL)
    analysis.end.set()
    while queries._slots._taken:
        pass
    assert ask(queries, RITA, SMALL)


def test_a_run_leaves_it_too(queries: QueryService, analysis: Analysis) -> None:
    with pytest.raises(LimitExceededError, match="not understood"):
        queries.analyse(RITA, "Shop", ENDLESS, seconds=60)
    assert not analysis.end.is_set()


def test_who_stops_a_query_that_does_not_stop_is_answered(
    queries: QueryService, analysis: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "_LEAVE_SECONDS", 0.1)
    _take_time(queries, monkeypatch)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(run, queries, RITA, ENDLESS)
        analysis.begun.wait()
        queries.stop("of_rita", RITA)
        with pytest.raises(StoppedError, match="was stopped"):
            asked.result(120)
    assert queries._running


def _take_time(queries: QueryService, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let analyses take as long as they do on a busy machine."""
    monkeypatch.setattr(queries, "_settings", queries._settings.model_copy(update={"analysis_seconds": 3_600}))
