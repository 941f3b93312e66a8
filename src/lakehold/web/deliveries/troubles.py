"""The field at which an error of a trial is shown."""

from __future__ import annotations

from lakehold.kit.errors import LakeholdError, NotFoundError
from lakehold.web.deliveries.filled import Filled
from lakehold.web.deliveries.ways import CHAT, DATABASE, FILES, MAIL
from lakehold.web.lakehouse.sources import databases
from lakehold.web.lakehouse.sources.troubles import is_no_worker


def at(error: LakeholdError, filled: Filled) -> str:
    """The field that it is about; empty if it is about none."""
    if is_no_worker(error):
        return ""
    if "does not let us in" in error.message or filled.to == CHAT:
        return "secret"
    if filled.to == FILES:
        return "volume" if isinstance(error, NotFoundError) else "file"
    if filled.to == MAIL:
        return "" if "No mails" in error.message else "subject" if "subject" in error.message else "receivers"
    if filled.to == DATABASE:
        if "name of a" in error.message:
            return "table"
        return "address" if filled.text("product") == databases.OTHER else "host"
    return "headers" if "header" in error.message else "address"
