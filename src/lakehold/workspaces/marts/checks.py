"""What a data mart promises of its rows: checks, as its settings say them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lakehold.kit.errors import InvalidInputError
from lakehold.workspaces.told import SettingsReader


class CheckKind(StrEnum):
    """What is checked."""

    FILLED = "not null"
    UNIQUE = "unique"
    AMONG = "accepted values"
    ROWS = "row count"
    FRESH = "freshness"
    SQL = "sql"


@dataclass(frozen=True, slots=True)
class Check:
    """One promise."""

    kind: CheckKind
    name: str
    fields: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    least: int = 0
    most: int | None = None
    hours: float = 0
    sql: str = ""
    """Gives the rows that are wrong."""
    stops: bool = False
    """Whether a run fails if it is broken; else it warns."""

    @classmethod
    def of(cls, told: SettingsReader) -> Check:
        """What is told, checked."""
        kind = CheckKind(told.one_of("check", tuple(CheckKind), ""))
        fields = told.texts("fields")
        if kind not in {CheckKind.ROWS, CheckKind.SQL} and not fields:
            raise InvalidInputError(f"A check of {kind} is of a field.", "Name it in fields.")
        if kind in {CheckKind.FILLED, CheckKind.AMONG, CheckKind.FRESH} and len(fields) > 1:
            raise InvalidInputError(f"A check of {kind} is of one field.", "Write one check for each.")
        values = told.texts("values")
        if kind is CheckKind.AMONG and not values:
            raise InvalidInputError(f"A check of {kind} names them.", "Write them in values.")
        least, most = told.count("least", 0), told.count("most", 0) if told.has("most") else None
        if most is not None and most < least:
            raise InvalidInputError(f"{most:,} rows at the most are less than {least:,}.", "Correct least or most.")
        return cls(
            kind,
            told.text("name", " ".join((kind, *fields)).strip()),
            fields,
            values,
            least,
            most,
            told.number("hours", 24),
            told.text("sql") if kind is CheckKind.SQL else "",
            told.flag("stops", default=False),
        )


def checks_of(told: SettingsReader) -> tuple[Check, ...]:
    """All that a data mart promises."""
    return tuple(Check.of(each) for each in told.each("checks"))
