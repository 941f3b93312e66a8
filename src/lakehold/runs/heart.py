"""The beat of this worker: in a thread of its own, so that nothing that takes long makes it seem dead."""

from __future__ import annotations

import logging
import os
from threading import Event, Thread

import sqlalchemy as sa

from lakehold.directory.platform import Platform
from lakehold.kit.errors import LakeholdError
from lakehold.runs import beats

_log = logging.getLogger("lakehold.runs")
_BEATS = 6
"""In the time after which a worker counts as dead, it has tried so many times to say that it is not."""
_LOST = 75


class Heart:
    """Beats from `start` to `stop`."""

    def __init__(self, platform: Platform, worker: str, address: str = "") -> None:
        self.pause = platform.settings.worker_silence / _BEATS
        self._platform = platform
        self._worker = worker
        self._address = address
        self._stop = Event()
        self._thread = Thread(target=self._beat, daemon=True, name="heart")

    def start(self) -> None:
        """Become known, then beat."""
        with self._platform.database.write() as transaction:
            beats.begin(transaction, self._worker, self._address)
        self._thread.start()

    def stop(self) -> None:
        """Be forgotten: what is left may be taken over at once."""
        self._stop.set()
        self._thread.join()
        with self._platform.database.write() as transaction:
            beats.end(transaction, self._worker)

    def _beat(self) -> None:
        while not self._stop.wait(self.pause):
            try:
                with self._platform.database.write() as transaction:
                    alive = beats.beat(transaction, self._worker)
            except (LakeholdError, sa.exc.SQLAlchemyError) as error:
                _log.warning("worker %s could not beat: %s", self._worker, type(error).__name__)
                continue
            if not alive:
                # Others do what this one was doing: it must not write another word.
                _log.error("worker %s was silent for too long, and others have taken over; it ends", self._worker)
                now(_LOST)


def now(code: int) -> None:
    """End this process without waiting for any of its threads."""
    logging.shutdown()
    os._exit(code)
