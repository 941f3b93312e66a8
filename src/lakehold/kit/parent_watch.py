"""Stops a child process when its parent is gone, even if that was killed, by a pipe whose other end it alone has."""

import os
import signal
import time
from threading import Thread

ENVIRONMENT_VARIABLE = "LAKEHOLD_LIFELINE"
_GRACE_SECONDS = 60
"""How many seconds it may take to end what it does."""


def watch_parent() -> None:
    """Stop this process, as Ctrl-C would, when the parent's end of the pipe closes. Does nothing without a pipe."""
    descriptor = os.environ.pop(ENVIRONMENT_VARIABLE, "")
    if descriptor:
        Thread(target=_wait_for_parent, args=(int(descriptor),), daemon=True, name="lifeline").start()


def _wait_for_parent(end: int) -> None:
    while os.read(end, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE_SECONDS)
    # Nobody is there any more who would notice.
    os._exit(os.EX_SOFTWARE)
