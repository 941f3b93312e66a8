"""A bound on the time that something takes, which a busy machine does not change."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SECONDS = 5.0
"""Of processor time."""


@contextmanager
def bounded(what: str) -> Iterator[None]:
    """Fail if this takes more processor time than anything small ever does."""

    def fail(_number: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"{what} does not come to an end.")

    before = signal.signal(signal.SIGVTALRM, fail)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
