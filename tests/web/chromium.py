"""The system's Chromium, installed where it is missing and that is possible.

Its headless shell comes first: a window of it costs a quarter of the processor time of the whole browser's.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

SHELL = "chromium-headless-shell"
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = f"Chromium is needed for the tests in a browser: install it, for example with `apt-get install {SHELL}`."


@cache
def executable() -> str:
    """Where it is; empty if there is none and none can be installed."""
    apt = shutil.which("apt-get")
    if apt and not shutil.which(SHELL) and os.geteuid() == 0:
        # Of several test processes that start at once, apt would refuse all but one.
        with (Path(tempfile.gettempdir()) / "lakehold-chromium.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            _install(apt)
    return _found()


def _install(apt: str) -> None:
    for step in (["update", "-q"], ["install", "-qy", "--no-install-recommends", SHELL]):
        if not shutil.which(SHELL):
            subprocess.run([apt, *step], check=False, capture_output=True)  # noqa: S603 - the words are ours


def arguments() -> list[str]:
    """Root has no sandbox."""
    return ["--no-sandbox"] if os.geteuid() == 0 else []


def _found() -> str:
    return next(filter(None, map(shutil.which, NAMES)), "")
