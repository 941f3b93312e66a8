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
    return Process("worker", {**known(house), **more}, beside)


def known(house: Installation) -> dict[str, str]:
    """What a worker is told by its environment."""
    settings = house.settings
    return {"LAKEHOLD_DATA": str(settings.data), "LAKEHOLD_DATABASE": settings.url, "LAKEHOLD_WORKER_SILENCE": "5"}
