"""One process that is kept running."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO

from lakehold.cli.processes import lifeline

_log = logging.getLogger("lakehold.processes")
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
_SETTLED = 60.0
"""A child that ran for so many seconds begins with short waits again."""


@dataclass(slots=True)
class Child:
    """A verb of ours in a process of its own. It has its own process group: Ctrl-C is the supervisor's to pass on."""

    verb: str
    arguments: Sequence[str] = ()
    handed: Sequence[int] = ()
    """File descriptors that it is given."""
    environment: Mapping[str, str] = field(default_factory=dict)
    log: IO[bytes] | None = None
    """Where it says things, if not where we do."""
    process: asyncio.subprocess.Process | None = None
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def keep(self) -> None:
        """Run it until it is told to stop; if it dies before, run it again."""
        wait = _FIRST_WAIT
        while not self._stopping.is_set():
            began = time.monotonic()
            code = await self._run()
            if self._stopping.is_set():
                return
            wait = _FIRST_WAIT if time.monotonic() - began > _SETTLED else wait
            _log.warning("the %s ended (%s); it is started again in %.1f s", self.verb, _told(code), wait)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), wait)
            wait = min(2 * wait, _LONGEST_WAIT)

    async def _run(self) -> int:
        end, ours = os.pipe()
        try:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "lakehold.cli", self.verb, *self.arguments),
                env={**os.environ, **self.environment, lifeline.VARIABLE: str(end)},
                pass_fds=(*self.handed, end),
                start_new_session=True,
                stdout=self.log,
                stderr=self.log,
            )
            os.close(end)
            end = -1
            return await self.process.wait()
        finally:
            if end >= 0:
                os.close(end)
            os.close(ours)

    def stop(self) -> None:
        """Let it end what it does, and do not start it again."""
        self._stopping.set()
        if self._runs():
            assert self.process is not None  # noqa: S101 - it runs
            self.process.terminate()

    def kill(self) -> None:
        """End it at once, with all that it started."""
        self._stopping.set()
        if self._runs():
            assert self.process is not None  # noqa: S101 - as above
            os.killpg(self.process.pid, signal.SIGKILL)

    def _runs(self) -> bool:
        return self.process is not None and self.process.returncode is None


def _told(code: int) -> str:
    return f"by {signal.Signals(-code).name}" if code < 0 else f"with code {code}"
