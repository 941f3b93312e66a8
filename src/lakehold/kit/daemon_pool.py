"""A pool of threads that nobody has to wait for: for work that may never end, and that nothing can stop."""

from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, TypeVar

T = TypeVar("T")

_MAX_IDLE = 16


class DaemonPool:
    """Reused threads that run calls. The caller need not wait for the end of a call, nor need the process."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls: SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = SimpleQueue()
        self._idle = 0
        self._lock = Lock()

    def submit(self, do: Callable[[], T], outcome: Future[T] | None = None) -> Future[T]:
        """Run a call; the future has its outcome, unless somebody else has set one before."""
        outcome = outcome or Future()
        with self._lock:
            is_new = not self._idle
            self._idle -= not is_new
        self._calls.put((do, outcome))
        if is_new:
            Thread(target=self._work, daemon=True, name=self._name).start()
        return outcome

    def _work(self) -> None:
        while True:
            _run(*self._calls.get())
            with self._lock:
                if self._idle >= _MAX_IDLE:
                    return
                self._idle += 1


def _run(do: Callable[[], Any], outcome: Future[Any]) -> None:
    try:
        result = do()
    except BaseException as error:  # noqa: BLE001 - it is the waiting thread's
        fail(outcome, error)
    else:
        with suppress(InvalidStateError):
            outcome.set_result(result)


def fail(outcome: Future[Any], error: BaseException) -> None:
    """Set the error that a waiting thread gets, unless it has an outcome already."""
    with suppress(InvalidStateError):
        outcome.set_exception(error)
