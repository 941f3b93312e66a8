"""Sessions of persons that wait for their next query: to make one takes longer than most queries do.

A session goes back to the same person alone, in the same workspace and with the same narrow token, and is used by one
query at a time. What a query could leave in it, the guard refuses; what it may read, the catalog is asked each time.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock

from pyspark.sql import SparkSession

from lakehold.directory.caller import Caller
from lakehold.kit.clock import SECOND, Clock, Moment
from lakehold.pipeline.spark.persons import Persons

_MOST = 32
_KEPT = 600

_Key = tuple[Caller, str]


@dataclass(frozen=True, slots=True)
class Lent:
    """A session, and the ticket that it shows for the person."""

    session: SparkSession
    ticket: str
    until: Moment
    """When the ticket is no longer taken."""


class Lending:
    """Those that wait, the longest waiting first."""

    def __init__(self, persons: Persons, clock: Clock) -> None:
        self._persons = persons
        self._clock = clock
        self._waiting: OrderedDict[Lent, _Key] = OrderedDict()
        self._lock = Lock()

    @contextmanager
    def lent(self, caller: Caller, workspace: str, seconds: int) -> Iterator[Lent]:
        """A session for what takes so many seconds at the most."""
        key = replace(caller, request="", address="", sign_in_id=""), workspace
        found = self._found(key, self._clock() + seconds * SECOND) or self._made(key, seconds)
        try:
            yield found
        finally:
            with self._lock:
                self._waiting[found] = key
                while len(self._waiting) > _MOST:
                    self._waiting.popitem(last=False)

    def _found(self, key: _Key, until: Moment) -> Lent | None:
        now = self._clock()
        with self._lock:
            for old in [each for each in self._waiting if each.until < now]:
                del self._waiting[old]
            found = next((each for each, of in self._waiting.items() if of == key and each.until >= until), None)
            if found is not None:
                del self._waiting[found]
            return found

    def _made(self, key: _Key, seconds: int) -> Lent:
        caller, workspace = key
        until = self._clock() + (seconds + _KEPT) * SECOND
        ticket = self._persons.ticket(caller, seconds + _KEPT)
        return Lent(self._persons.session(ticket, workspace), ticket, until)
