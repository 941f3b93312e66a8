"""Workers in tests: real processes on the installation of the test."""

from __future__ import annotations

from lakehold.directory.installation import Installation
from tests.processes import Process


def worker(house: Installation, beside: Process | None = None, **more: str) -> Process:
    """A worker that is ready."""
    begun = beginning(house, beside, **more)
    try:
        begun.hear("is ready")
    except BaseException:
        begun.__exit__()
        raise
    return begun


def beginning(house: Installation, beside: Process | None = None, **more: str) -> Process:
    """A worker that is not ready yet. Others take over after five seconds without a word."""
    settings = house.settings
    known = {"LAKEHOLD_DATA": str(settings.data), "LAKEHOLD_DATABASE": settings.url, "LAKEHOLD_WORKER_SILENCE": "5"}
    return Process("worker", {**known, **more}, beside)
