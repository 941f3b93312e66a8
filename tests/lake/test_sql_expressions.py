"""Values that somebody wrote, as SQL of a column's type."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lakehold.kit.errors import InvalidInputError
from lakehold.lake.sql_expressions import typed_literal

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("today", "2026-11-16"),
        ("today - 16", "2026-10-31"),
        ("TODAY+1", "2026-11-17"),
        ("week", "2026-11-16"),
        ("week - 1", "2026-11-09"),
        ("month", "2026-11-01"),
        ("month - 11", "2025-12-01"),
        ("month + 2", "2027-01-01"),
        ("quarter", "2026-10-01"),
        ("quarter - 4", "2025-10-01"),
        ("year", "2026-01-01"),
        ("year - 1", "2025-01-01"),
        ("2024-02-29", "2024-02-29"),
    ],
)
def test_days_as_they_lie_from_now(value: str, day: str) -> None:
    assert typed_literal(value, "date", NOW) == f"DATE '{day}'"


@pytest.mark.parametrize(
    ("value", "kind", "sql"),
    [
        ("it's \\ here", "string", "'it\\'s \\\\ here'"),
        ("1e3", "int", "1000"),
        ("-12.50", "decimal(10, 2)", "-12.50"),
        ("True", "boolean", "TRUE"),
        ("2026-01-02 03:04", "timestamp", "TIMESTAMP_NTZ '2026-01-02T03:04:00'"),
        ("month", "timestamptz", "TIMESTAMP '2026-11-01'"),
        ("2026-01-02T03:04+02:00", "timestamp", "TIMESTAMP_NTZ '2026-01-02T01:04:00'"),
        ("0.1", "float", "0.1F"),
    ],
)
def test_a_value_of_each_type(value: str, kind: str, sql: str) -> None:
    assert typed_literal(value, kind, NOW) == sql


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        *(("1.5", "int"), ("NaN", "double"), ("Infinity", "double"), ("1; DROP", "long"), ("", "long")),
        *(("yes", "boolean"), ("2026-13-01", "date"), ("today - 9999999", "date"), ("year - 9000", "date")),
        *(("now()", "timestamp"), ("1", "list<int>")),
        # Written out, these would be as long as they say, or longer than SQL can be told.
        *(("1e999999999", "double"), ("1e-999999999", "double"), ("9" * 39, "long"), ("0." + "1" * 39, "double")),
    ],
)
def test_what_is_none_is_refused(value: str, kind: str) -> None:
    with pytest.raises(InvalidInputError):
        typed_literal(value, kind, NOW)


def test_without_now_no_day_is_relative() -> None:
    with pytest.raises(InvalidInputError) as refused:
        typed_literal("today", "date")
    assert refused.value.hint == "Write 2026-11-30."
