"""What has to be there before the first request: the tables, the key, and a way in for the first person."""

from __future__ import annotations

from lakehold.directory import tenants
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings


def prepared(settings: Settings) -> str:
    """Make what is missing. The path of the link with which the first person sets everything up, if nobody has yet."""
    platform = Platform(settings)
    try:
        platform.database.migrate()
        _ = platform.keys
        return f"/first-run/{tenants.setup_secret(platform)}" if tenants.is_setup_open(platform) else ""
    finally:
        platform.close()
