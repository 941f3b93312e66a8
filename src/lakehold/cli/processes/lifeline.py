"""How a child notices that whoever started it is gone, even if they were killed: a pipe of which only they have the
other end.
"""

from __future__ import annotations

import os
import signal
import time
from threading import Thread

VARIABLE = "LAKEHOLD_LIFELINE"
_GRACE = 60
"""How many seconds it may take to end what it does."""


def hold() -> None:
    """Stop this process, as Ctrl-C would, when the other end of its lifeline is let go. Without one nothing happens."""
    given = os.environ.pop(VARIABLE, "")
    if given:
        Thread(target=_watch, args=(int(given),), daemon=True, name="lifeline").start()


def _watch(end: int) -> None:
    while os.read(end, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE)
    # Nobody is there any more who would notice.
    os._exit(os.EX_SOFTWARE)
