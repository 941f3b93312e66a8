"""The field at which an error of a look is shown."""

from __future__ import annotations

from lakehold.kit.errors import InvalidInputError, LakeholdError, NotFoundError, UnavailableError
from lakehold.web.lakehouse.sources import databases
from lakehold.web.lakehouse.sources.connection import API, DATABASE, FILES, Connection

_IN = "does not let us in"
"""What is said of a user name or a secret that is wrong, by databases and APIs alike."""


def is_no_worker(error: LakeholdError) -> bool:
    """Whether nobody could look, so that nothing is known of the form."""
    return isinstance(error, UnavailableError) and error.message.startswith(("No worker", "The worker"))


def at(error: LakeholdError, filled: Connection) -> str:
    """The field that it is about; empty if it is about none."""
    if is_no_worker(error):
        return ""
    if _IN in error.message or (isinstance(error, InvalidInputError) and error.message.startswith("The source has no")):
        return "secret"
    return {FILES: _of_files, DATABASE: _of_database, API: _of_api}[filled.connector](error, filled)


def _of_files(error: LakeholdError, _filled: Connection) -> str:
    return "folder" if "folder" in error.message or not isinstance(error, NotFoundError) else "volume"


def _of_database(error: LakeholdError, filled: Connection) -> str:
    if filled.text("product") == databases.OTHER:
        return "driver" if "driver" in error.message else "address"
    return "database" if isinstance(error, NotFoundError) else "host"


def _of_api(error: LakeholdError, filled: Connection) -> str:
    if "header" in error.message:
        return "headers"
    if isinstance(error, UnavailableError) or (isinstance(error, InvalidInputError) and "address" in error.message):
        return "address"
    # It says at which path; the one that it ends with.
    for n, each in enumerate(filled.endpoints):
        if each["path"] and each["path"].lstrip("/") in error.message:
            return f"endpoint_path-{n}"
    return "endpoint_path-0"
