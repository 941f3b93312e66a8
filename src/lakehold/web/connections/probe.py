"""The result of probing a source, and the form field that an error of it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lakehold.kit.errors import InvalidInputError, LakeholdError, NotFoundError, UnavailableError
from lakehold.web.connections import connector_fields
from lakehold.web.connections.source_form import API, DATABASE, FILES, SourceForm


@dataclass(frozen=True, slots=True)
class SourceProbe:
    """The result of probing a source, or the error."""

    found: Mapping[str, Any] = field(default_factory=dict)
    error: LakeholdError | None = None

    @property
    def streams(self) -> list[Mapping[str, Any]]:
        """Return the streams of the source."""
        return list(self.found.get("streams", ()))


_ACCESS_DENIED = "does not let us in"
"""What is said of a user name or a secret that is wrong, by databases and APIs alike."""


def is_no_worker(error: LakeholdError) -> bool:
    """Return whether the error means that no worker could answer."""
    return isinstance(error, UnavailableError) and error.message.startswith(("No worker", "The worker"))


def error_field(error: LakeholdError, filled: SourceForm) -> str:
    """Return the form field that a probe error is about, or an empty string."""
    if is_no_worker(error):
        return ""
    if _ACCESS_DENIED in error.message or (
        isinstance(error, InvalidInputError) and error.message.startswith("The source has no")
    ):
        return "secret"
    return {FILES: _files_error_field, DATABASE: _database_error_field, API: _api_error_field}[filled.connector](
        error, filled
    )


def _files_error_field(error: LakeholdError, _filled: SourceForm) -> str:
    return "folder" if "folder" in error.message or not isinstance(error, NotFoundError) else "volume"


def _database_error_field(error: LakeholdError, filled: SourceForm) -> str:
    if filled.text("product") == connector_fields.OTHER:
        return "driver" if "driver" in error.message else "address"
    return "database" if isinstance(error, NotFoundError) else "host"


def _api_error_field(error: LakeholdError, filled: SourceForm) -> str:
    if "header" in error.message:
        return "headers"
    if isinstance(error, UnavailableError) or (isinstance(error, InvalidInputError) and "address" in error.message):
        return "address"
    # It says at which path; the one that it ends with.
    for n, each in enumerate(filled.endpoints):
        if each["path"] and each["path"].lstrip("/") in error.message:
            return f"endpoint_path-{n}"
    return "endpoint_path-0"
