"""Which workers are alive, by a clock of the watcher's own."""

from __future__ import annotations

import signal

from lakehold.directory.platform import Platform
from lakehold.kit.database import Database
from lakehold.runs import heartbeat
from lakehold.runs.heartbeat import HeartbeatMonitor
from lakehold.runs.scheduler.housekeeping import DueTasks, PeriodicTask
from tests.runs.workers import start_worker


class Clock:
    at = 0.0

    def __call__(self) -> float:
        return self.at


def test_a_count_that_stands_still_for_too_long_is_that_of_the_dead() -> None:
    clock = Clock()
    watch = HeartbeatMonitor(10, clock)
    assert watch.dead_workers({"a": 1, "b": 1}) == set()
    clock.at = 9
    assert watch.dead_workers({"a": 2, "b": 1}) == set()
    clock.at = 11
    assert watch.dead_workers({"a": 2, "b": 1}) == {"b"}
    clock.at = 12
    # Whoever is new is given as much time as everybody else.
    assert watch.dead_workers({"a": 2, "c": 1}) == set()


def test_counting(database: Database) -> None:
    with database.write() as transaction:
        heartbeat.register_worker(transaction, "a")
        assert heartbeat.record_heartbeat(transaction, "a")
        assert heartbeat.record_heartbeat(transaction, "a")
        assert heartbeat.heartbeat_counts(transaction) == {"a": 2}
        heartbeat.remove_worker(transaction, "a")
        assert not heartbeat.record_heartbeat(transaction, "a")


def test_a_tick_comes_once_in_each_span() -> None:
    tick = PeriodicTask("t", 10, lambda _: None)
    due = DueTasks([tick])
    assert [slot for at in (5, 9, 10, 19, 31) for _, slot in due.due(at * 1_000_000)] == [0, 1, 3]


def test_a_worker_that_was_thought_dead_ends_at_once(platform: Platform) -> None:
    with start_worker(platform) as process:
        with platform.database.write() as transaction:
            for one in heartbeat.heartbeat_counts(transaction):
                heartbeat.remove_worker(transaction, one)
        process.wait_for_line("others have taken over")
        assert process.wait() == 75


def test_a_worker_that_stops_leaves_no_row(platform: Platform) -> None:
    with start_worker(platform) as process:
        assert process.stop(signal.SIGINT) == 0
    with platform.database.read() as transaction:
        assert heartbeat.heartbeat_counts(transaction) == {}
