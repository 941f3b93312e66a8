"""Who is stopped when somebody waits, and when a worker gives up: by what Spark says that it has to do."""

from __future__ import annotations

import pytest

from lakehold.lake.spark import fair_share
from lakehold.lake.spark.fair_share import FairShare, RunningQuery, TaskSet

RITA, ED = RunningQuery(("acme", "rita"), "rita's"), RunningQuery(("acme", "ed"), "ed's")
LONG = 1_000


class Spark:
    """What a look leads to."""

    def __init__(self, patience: int, *, is_expendable: bool = False) -> None:
        self.stopped: list[RunningQuery] = []
        self.ended: list[str] = []
        self.put_back: list[int] = []
        stop = lambda each, _: self.stopped.append(each)  # noqa: E731
        self.sharing = FairShare(
            None,  # type: ignore[arg-type]
            patience,
            stop,
            self.ended.append,
            self.put_back.append,
            is_expendable=is_expendable,
        )


def tasks(of: RunningQuery, running: int, *, is_left: bool = False) -> TaskSet:
    return TaskSet(of.pool, of.group, f"tasks {of.group}", running, is_left)


def run(running: int, *ids: int) -> TaskSet:
    """Of a run."""
    return TaskSet("default", None, "tasks of a run", running, is_orphaned=False, ids=ids)


def test_what_has_the_most_is_stopped_for_who_has_nothing() -> None:
    spark = Spark(0)
    assert not spark.sharing.check([RITA, ED], [tasks(RITA, 2), tasks(ED, 0)])
    assert (spark.stopped, spark.ended) == ([RITA], [])


@pytest.mark.parametrize(
    "there",
    [
        [tasks(RITA, 1), tasks(ED, 1)],
        [tasks(RITA, 2)],
        # Two of one person's are their own business, and a run is not stopped for a query, nor a query for a run.
        [tasks(RITA, 2), tasks(RITA, 0)],
        [run(2), tasks(ED, 0)],
        [tasks(RITA, 2), run(0)],
    ],
    ids=["both have some", "nobody waits", "one's own waits", "a run has all", "a run waits"],
)
def test_nobody_else_is_stopped(there: list[TaskSet]) -> None:
    spark = Spark(0)
    spark.sharing.check([RITA, ED], there)
    assert (spark.stopped, spark.ended) == ([], [])


def test_of_the_tasks_of_runs_the_last_is_put_back_and_the_first_stays() -> None:
    spark = Spark(0)
    for _ in range(2):
        spark.sharing.check([ED], [run(1, 7), run(1, 9), tasks(ED, 0)])
    # It was told once; whether it listens is seen when it is gone.
    assert spark.put_back == [9]
    spark.sharing.check([ED], [run(1, 7), tasks(ED, 0)])
    spark.sharing.check([ED], [run(2, 7, 11), tasks(ED, 1)])
    assert spark.put_back == [9]
    spark.sharing.check([ED], [run(2, 7, 11), tasks(ED, 0)])
    assert (spark.put_back, spark.stopped, spark.ended) == ([9, 11], [], [])


def test_a_task_that_does_not_listen_does_not_save_the_query_beside_it() -> None:
    spark = Spark(0)
    there = [run(2, 7, 9), tasks(RITA, 1), tasks(ED, 0)]
    spark.sharing.check([RITA, ED], there)
    assert (spark.put_back, spark.stopped) == ([9], [])
    spark.sharing.check([RITA, ED], there)
    assert (spark.put_back, spark.stopped) == ([9], [RITA])


def test_who_waits_does_so_for_a_while() -> None:
    spark = Spark(LONG)
    for _ in range(2):
        spark.sharing.check([RITA, ED], [tasks(RITA, 2), tasks(ED, 0)])
    assert spark.stopped == []


@pytest.mark.parametrize("waits", [[tasks(ED, 0)], [run(0)], []])
def test_what_does_not_stop_ends_the_worker(waits: list[TaskSet]) -> None:
    spark = Spark(0)
    assert spark.sharing.check([ED], [tasks(RITA, 2, is_left=True), *waits])
    assert len(spark.ended) == 1
    patient = Spark(LONG)
    assert patient.sharing.check([ED], [tasks(RITA, 2, is_left=True), *waits])
    assert patient.ended == []


def test_a_process_without_runs_ends_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_share, "_EXPENDABLE_STOP_SECONDS", 0)
    for is_expendable in (True, False):
        spark = Spark(LONG, is_expendable=is_expendable)
        assert spark.sharing.check([ED], [tasks(RITA, 2, is_left=True)])
        assert len(spark.ended) == is_expendable


def test_a_query_that_is_stopped_and_goes_on_is_noticed_too() -> None:
    spark, late = Spark(0), RunningQuery(("acme", "rita"), stop_reason="It took too long.")
    assert spark.sharing.check([late], [])
    # Told again: what it has begun since does not know.
    assert (spark.stopped, len(spark.ended)) == ([late], 1)


def test_what_has_ended_is_forgotten() -> None:
    spark = Spark(0)
    assert not spark.sharing.check([ED], [tasks(RITA, 0, is_left=True), tasks(ED, 1)])
    assert spark.ended == []
