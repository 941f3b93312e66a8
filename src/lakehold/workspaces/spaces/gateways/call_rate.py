"""The rate of the calls of gateways, each of which takes a thread and the database of the platform."""

from threading import Lock

from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.errors import BusyError

_PER_SECOND, _AT_ONCE = 100, 2_000
"""A task with hundreds of small tables makes some calls for each of them, one after the other."""


class CallRate:
    """Bounds the calls of each gateway: so many at once, and then so many a second."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._free_at: dict[tuple[int, int], Moment] = {}
        """When each will have made up for its calls, each of which counts for its part of a second."""

    def take(self, tenant: int, gateway: int, at: Moment) -> None:
        """Count a call; refuse it if there were too many."""
        key = (tenant, gateway)
        with self._lock:
            free_at = max(self._free_at.get(key, at), at) + SECOND // _PER_SECOND
            if free_at - at > _AT_ONCE * SECOND // _PER_SECOND:
                raise BusyError("The gateway calls too often.", "It may go on in some seconds.")
            self._free_at[key] = free_at
