"""What has to be there before the first request: the tables, the key, and a way in for the first person."""

from __future__ import annotations

from lakehold.directory import first_run
from lakehold.directory.installation import Installation
from lakehold.kit.settings import Settings


def prepared(settings: Settings) -> str:
    """Make what is missing. The path of the link with which the first person sets everything up, if nobody has yet."""
    house = Installation(settings)
    try:
        house.database.migrate()
        _ = house.keys
        return f"/first-run/{first_run.secret(house)}" if first_run.is_open(house) else ""
    finally:
        house.close()
