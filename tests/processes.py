"""Lakehold processes in tests, whose log is read while it is written."""

from __future__ import annotations

import os
import queue
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import IO, Self

PATIENCE = 180
# Bytecode is read and kept where set-up and the tests have left it: most of a start is compiling code otherwise.
_OURS = {"PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "SPARK_LOCAL_IP"}


class Process:
    """A `lakehold` command in a process of its own, with its output so far."""

    def __init__(
        self,
        verb: str,
        environment: Mapping[str, str],
        beside: Process | None = None,
        python: Path = Path(sys.executable),
        module: str = "lakehold.cli",
        *,
        folder: Path | None = None,
    ) -> None:
        known = {name: value for name, value in os.environ.items() if name not in _OURS and "LAKEHOLD_" not in name}
        self.process = subprocess.Popen(  # noqa: S603 - our own interpreter and words
            [python, "-m", module, *verb.split()],
            env={**known, "PYTHONUNBUFFERED": "1", **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=folder,
        )
        self.output: list[str] = []
        # Two that stand side by side are heard as one.
        self._lines: queue.SimpleQueue[str | None] = beside._lines if beside else queue.SimpleQueue()
        assert self.process.stdout
        self._reader = Thread(target=self._read, args=(self.process.stdout,), daemon=True)
        self._reader.start()

    def _read(self, out: IO[str]) -> None:
        for line in out:
            self._lines.put(line)
        self._lines.put(None)

    def wait_for_line(self, words: str) -> str:
        """Wait for the next line that contains these words. Fails if the process ends or stays silent."""
        (line,) = self.wait_for_lines(words)
        return line

    def wait_for_lines(self, *words: str) -> list[str]:
        """Wait for lines that contain these words, in any order."""
        heard: dict[str, str] = {}
        while len(heard) < len(words):
            try:
                line = self._lines.get(timeout=PATIENCE)
            except queue.Empty:
                line = None
            if line is None:
                raise AssertionError(f"It did not say {set(words) - heard.keys()}: {''.join(self.output)}")
            self.output.append(line)
            heard.update((each, line) for each in words if each in line and each not in heard)
        return [heard[each] for each in words]

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to this process alone."""
        self.process.send_signal(number)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Stop the process and wait for it."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        """Wait until the process has ended, and return its exit code."""
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
        self.wait()


def children(pid: int) -> dict[str, int]:
    """Return the child processes of a process by their command."""
    found = {}
    for folder in Path("/proc").iterdir():
        # A process may end while it is looked at.
        with suppress(OSError, ValueError, IndexError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == pid:
                words = (folder / "cmdline").read_text().split("\0")
                found[words[words.index("lakehold.cli") + 1]] = int(folder.name)
    return found


def descendants(pid: int) -> list[int]:
    """Return all processes that a process has started, and those that these have."""
    by_parent: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        with suppress(OSError, ValueError, IndexError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            by_parent.setdefault(parent, []).append(int(folder.name))
    found, left = list[int](), [pid]
    while left:
        below = by_parent.get(left.pop(), [])
        found += below
        left += below
    return found


@contextmanager
def open_process_handles(*pids: int) -> Iterator[list[int]]:
    """Open handles on processes that are not our own children."""
    handles = [os.pidfd_open(pid) for pid in pids]
    try:
        yield handles
    finally:
        for handle in handles:
            os.close(handle)


def all_ended(handles: list[int]) -> bool:
    """Whether all of these processes end before the timeout."""
    for handle in handles:
        ended, _, _ = select.select([handle], [], [], PATIENCE)
        if not ended:
            return False
    return True
