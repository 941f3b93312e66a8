"""A destination is tried out by the worker, and what it refuses is shown at its field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request

from lakehold.api.frame.works import house_of
from lakehold.directory.caller import Caller
from lakehold.directory.work import Work
from lakehold.kit.errors import LakeholdError, NotFoundError
from lakehold.runs import asking
from lakehold.web.lakehouse.destinations.delivery import DATABASE, FILES, MAIL, Delivery
from lakehold.web.lakehouse.sources import databases, looking
from lakehold.web.lakehouse.sources.troubles import is_no_worker
from lakehold.workspaces.lakehouse import destinations


def tried(request: Request, asked: Mapping[str, Any]) -> tuple[str, LakeholdError | None]:
    """What was found, or what is wrong. Whether the caller may is neither: it is refused."""

    def let_in(work: Work) -> Caller:
        destination, lakehouse, volume = (str(asked.get(name, "")) for name in ("destination", "lakehouse", "volume"))
        destinations.may_try(work, destination, lakehouse, asked.get("reads", ()), volume)
        return work.caller

    caller = looking.reading(request).run(let_in)
    try:
        return asking.try_out(house_of(request), caller, asked), None
    except LakeholdError as error:
        return "", error


def at(error: LakeholdError, filled: Delivery) -> str:
    """The field that it is about; empty if it is about none."""
    if is_no_worker(error):
        return ""
    if "does not let us in" in error.message:
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
