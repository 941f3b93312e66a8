"""Errors of sources: what a database says by its SQLSTATE, and our own errors on their way through Spark."""

from __future__ import annotations

import pytest

from lakehold.connectors.error_translation import CarriedError, source_error, source_error_of_state
from lakehold.kit.errors import LakeholdError, NotFoundError, UnavailableError
from lakehold.lake.errors import DataError, SourceError


@pytest.mark.parametrize(
    ("state", "kind", "field", "code"),
    [
        ("08001", UnavailableError, "address", "unavailable"),
        ("28P01", SourceError, "password", "source_refused"),
        ("42501", SourceError, "user", "source_refused"),
        ("3D000", NotFoundError, "address", "unknown_database"),
        ("3F000", NotFoundError, "schemas", "not_found"),
        ("42P01", NotFoundError, "", "not_found"),
        ("XX000", SourceError, "", "source_refused"),
    ],
)
def test_what_a_database_refuses_is_about_a_setting(
    state: str, kind: type[LakeholdError], field: str, code: str
) -> None:
    found = source_error_of_state(state, "no", "The database")
    assert (type(found), found.field, found.code) == (kind, field, code)


@pytest.mark.parametrize(
    "error",
    [
        SourceError("Größe fehlt.", "Check it.", field="token"),
        NotFoundError("It is gone.", field="address", code="unknown_database"),
        DataError("It does not fit."),
    ],
)
def test_an_error_of_ours_comes_through_spark_as_it_was(error: LakeholdError) -> None:
    wrapped = RuntimeError(f"Job aborted: Task failed: {CarriedError(error)}\n\tat java.lang.Thread.run")
    found = source_error(wrapped, "The source")
    assert type(found) is type(error)
    assert (found.message, found.hint, found.field, found.code) == (
        error.message,
        error.hint,
        error.field,
        error.code,
    )
