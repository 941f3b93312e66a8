"""Processes of ours in tests: real ones, whose log is read as it is written."""

from __future__ import annotations

import atexit
import os
import queue
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Thread
from typing import IO, Self

PATIENCE = 180
_OURS = {"PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"}


@cache
def _bytecode() -> Path:
    """Where all of them keep their bytecode, as an installation does: most of a start is reading code."""
    folder = tempfile.mkdtemp(prefix="lakehold-test-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


class Process:
    """A verb of `lakehold` in a process of its own, with what it has said so far."""

    def __init__(
        self,
        verb: str,
        environment: Mapping[str, str],
        beside: Process | None = None,
        python: Path = Path(sys.executable),
        module: str = "lakehold.cli",
    ) -> None:
        known = {name: value for name, value in os.environ.items() if name not in _OURS and "LAKEHOLD_" not in name}
        self.process = subprocess.Popen(  # noqa: S603 - our own interpreter and words
            [python, "-m", module, *verb.split()],
            env={**known, "PYTHONUNBUFFERED": "1", "PYTHONPYCACHEPREFIX": str(_bytecode()), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.said: list[str] = []
        # Two that stand side by side are heard as one.
        self._lines: queue.SimpleQueue[str | None] = beside._lines if beside else queue.SimpleQueue()
        assert self.process.stdout
        self._reader = Thread(target=self._read, args=(self.process.stdout,), daemon=True)
        self._reader.start()

    def _read(self, out: IO[str]) -> None:
        for line in out:
            self._lines.put(line)
        self._lines.put(None)

    def hear(self, words: str) -> str:
        """The next line with these words; fails if there will be none."""
        (line,) = self.hear_each(words)
        return line

    def hear_each(self, *words: str) -> list[str]:
        """The next lines with these words, in whatever order they come."""
        heard: dict[str, str] = {}
        while len(heard) < len(words):
            try:
                line = self._lines.get(timeout=PATIENCE)
            except queue.Empty:
                line = None
            if line is None:
                raise AssertionError(f"It did not say {set(words) - heard.keys()}: {''.join(self.said)}")
            self.said.append(line)
            heard.update((each, line) for each in words if each in line and each not in heard)
        return [heard[each] for each in words]

    def tell(self, number: signal.Signals) -> None:
        """Send a signal to it alone."""
        self.process.send_signal(number)

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Stop it, and wait for that."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.ended()

    def ended(self) -> int:
        """Wait until it has ended; its exit code."""
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        # To close what somebody reads would wait for them, whoever still holds the other end.
        assert not self._reader.is_alive(), "It has ended, and a process that it had started has not."
        assert self.process.stdout
        self.process.stdout.close()
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.ended()


def children(pid: int) -> dict[str, int]:
    """The processes that this one has started, by their verb."""
    found = {}
    for folder in Path("/proc").iterdir():
        # A process may end while it is looked at.
        with suppress(OSError, ValueError, IndexError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == pid:
                words = (folder / "cmdline").read_text().split("\0")
                found[words[words.index("lakehold.cli") + 1]] = int(folder.name)
    return found


@contextmanager
def watched(*pids: int) -> Iterator[list[int]]:
    """Handles on processes that are not our own children."""
    handles = [os.pidfd_open(pid) for pid in pids]
    try:
        yield handles
    finally:
        for handle in handles:
            os.close(handle)


def gone(handles: list[int]) -> bool:
    """Whether all of them end, within our patience."""
    for handle in handles:
        ended, _, _ = select.select([handle], [], [], PATIENCE)
        if not ended:
            return False
    return True
