"""Worker processes on the platform of a test."""

from __future__ import annotations

from lakehold.directory.platform import Platform
from tests.processes import Process


def start_worker(platform: Platform, beside: Process | None = None, **more: str) -> Process:
    """Start a worker and wait until it is ready."""
    begun = launch_worker(platform, beside, **more)
    try:
        begun.wait_for_line("is ready")
    except BaseException:
        begun.__exit__()
        raise
    return begun


def launch_worker(platform: Platform, beside: Process | None = None, **more: str) -> Process:
    """Start a worker without waiting. Others take over after five seconds without a heartbeat."""
    return Process("worker", {**worker_environment(platform), **more}, beside)


def worker_environment(platform: Platform) -> dict[str, str]:
    """Return the environment variables of a worker."""
    settings = platform.settings
    return {
        "LAKEHOLD_DATA": str(settings.data),
        "LAKEHOLD_DATABASE": settings.database_url,
        "LAKEHOLD_WORKER_SILENCE": "5",
    }
