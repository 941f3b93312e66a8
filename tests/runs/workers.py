"""Workers in tests: real processes on the installation of the test."""

from __future__ import annotations

from lakehold.directory.platform import Platform
from tests.processes import Process


def worker(platform: Platform, beside: Process | None = None, **more: str) -> Process:
    """A worker that is ready."""
    begun = beginning(platform, beside, **more)
    try:
        begun.hear("is ready")
    except BaseException:
        begun.__exit__()
        raise
    return begun


def beginning(platform: Platform, beside: Process | None = None, **more: str) -> Process:
    """A worker that is not ready yet. Others take over after five seconds without a word."""
    return Process("worker", {**known(platform), **more}, beside)


def known(platform: Platform) -> dict[str, str]:
    """What a worker is told by its environment."""
    settings = platform.settings
    return {
        "LAKEHOLD_DATA": str(settings.data),
        "LAKEHOLD_DATABASE": settings.database_url,
        "LAKEHOLD_WORKER_SILENCE": "5",
    }
