"""Bounds how much slow work of one kind is under way at once: in all, and for one person."""

from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from threading import Lock

from lakehold.kit.errors import LimitExceededError


class Slots:
    """Places for work that holds a thread for long. Nobody waits for one: who finds none is refused at once."""

    def __init__(self, noun: str, total: int, each: int) -> None:
        self.total = total
        self._noun = noun
        self._each = each
        self._taken: Counter[Hashable] = Counter()
        self._lock = Lock()

    @contextmanager
    def take(self, owner: Hashable) -> Iterator[None]:
        """Take a place for a person; raise `LimitExceededError` if they have as many as they may, or none is left."""
        with self._lock:
            if self._taken[owner] >= self._each:
                raise LimitExceededError(
                    f"You have {self._each} {self._noun} running.", "Wait for one to end, or stop one."
                )
            if self._taken.total() >= self.total:
                raise LimitExceededError(f"Too many {self._noun} are running.", "Try again in a moment.")
            self._taken[owner] += 1
        try:
            yield
        finally:
            with self._lock:
                self._taken[owner] -= 1
                if not self._taken[owner]:
                    del self._taken[owner]
