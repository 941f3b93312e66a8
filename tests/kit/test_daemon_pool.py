"""A call in a thread of its own can be left, and its thread is used again once it has ended."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Event, current_thread

import pytest

from lakehold.kit.daemon_pool import DaemonPool, fail


def test_a_call_has_its_outcome() -> None:
    pool = DaemonPool("test")
    assert pool.submit(lambda: 1 + 1).result(60) == 2
    with pytest.raises(ZeroDivisionError):
        pool.submit(lambda: 1 / 0).result(60)


def test_who_waits_can_be_answered_before_the_call_has_ended() -> None:
    pool, end, outcome = DaemonPool("test"), Event(), Future[bool]()
    pool.submit(lambda: end.wait(60), outcome)
    fail(outcome, TimeoutError("mine"))
    with pytest.raises(TimeoutError, match="mine"):
        outcome.result(60)
    # Another one does not wait behind it.
    assert pool.submit(lambda: current_thread().daemon).result(60)
    end.set()
