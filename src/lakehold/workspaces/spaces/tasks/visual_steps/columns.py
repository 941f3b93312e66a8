"""Columns between visual steps: their names, compared without case, and their Iceberg types where they are known."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lakehold.access.model.errors import did_you_mean
from lakehold.kit.ids import quote
from lakehold.kit.settings_schema import InvalidSettingError
from lakehold.lake.row_formats import quote_identifier
from lakehold.lake.sql_expressions import Aggregate, is_numeric_type

_MOST_LISTED = 20
_MAX_PRECISION = 38
_SQL_TYPES = {
    "boolean": "BOOLEAN",
    "int": "INT",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "STRING",
    "binary": "BINARY",
    "date": "DATE",
    "timestamp": "TIMESTAMP_NTZ",
    "timestamptz": "TIMESTAMP",
}
_DECIMAL = re.compile(r"decimal\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)")
_WIDENING = ("int", "long", "float", "double")
_TIMES = {"date", "timestamp", "timestamptz"}


@dataclass(frozen=True, slots=True)
class StepColumn:
    """A column of an input or of the result of a step."""

    name: str
    type: str | None = None
    """As Iceberg calls it; None if only Spark can find out."""

    @property
    def sql(self) -> str:
        """The quoted name."""
        return quote_identifier(self.name)


@dataclass(frozen=True, slots=True)
class StepSource:
    """The rows that a step begins with: an input, or the step before it."""

    sql: str
    """As it stands behind FROM."""
    columns: tuple[StepColumn, ...]
    input: str = ""
    """The name of the input; empty for a step."""

    def column(self, name: str, field: str) -> StepColumn:
        """Return the column of this name, which the setting `field` gives, or raise an error that lists the columns."""
        found = find_column(self.columns, name)
        if found is None:
            names = [each.name for each in self.columns]
            listed = f"There are: {', '.join(names[:_MOST_LISTED])}{', …' if len(names) > _MOST_LISTED else ''}."
            where = f"The input {quote(self.input)} has" if self.input else "There is"
            message = f"{where} no column {quote(name)}."
            raise InvalidSettingError(message, did_you_mean(name, names, listed), field=field)
        return found


@dataclass(frozen=True, slots=True)
class StepQuery:
    """The query of a step."""

    clauses: tuple[str, ...]
    columns: tuple[StepColumn, ...]


def aliased(sql: str, old: StepColumn, new: StepColumn) -> str:
    """Return the SQL of a column under its new name."""
    return sql if old.name == new.name else f"{sql} AS {new.sql}"


def quote_part(name: str) -> str:
    """Return a part of a name, in backticks if SQL would not take it for one."""
    return name if name.isidentifier() else quote_identifier(name)


def unquote_identifier(text: str) -> str:
    """Return the name that SQL has, with backticks or without."""
    return text[1:-1].replace("``", "`") if text.startswith("`") else text


def find_column(columns: Sequence[StepColumn], name: str) -> StepColumn | None:
    """Return the column of this name: an exact match first, then one in any case."""
    alike = [each for each in columns if each.name.lower() == name.lower()]
    return next((each for each in alike if each.name == name), alike[0] if alike else None)


def refuse_clashes(columns: Sequence[StepColumn], field: str, hint: str = "Rename one of them.") -> None:
    """Refuse columns of which two have the same name, in any case."""
    seen = set[str]()
    for each in columns:
        if each.name.lower() in seen:
            raise InvalidSettingError(f"Two columns would be called {quote(each.name)}.", hint, field=field)
        seen.add(each.name.lower())


def sql_type(name: str) -> str:
    """Return what SQL calls an Iceberg type that values can be cast to, or raise."""
    decimal = _DECIMAL.fullmatch(name)
    if decimal and 0 < int(decimal[1]) <= _MAX_PRECISION and int(decimal[2]) <= int(decimal[1]):
        return f"DECIMAL({decimal[1]}, {decimal[2]})"
    if name not in _SQL_TYPES:
        hint = f"Use {', '.join(_SQL_TYPES)} or decimal(10, 2)."
        raise InvalidSettingError(f"There is no type {quote(name)}.", hint, field="type")
    return _SQL_TYPES[name]


def are_comparable(one: StepColumn, other: StepColumn) -> bool:
    """Return whether values of the two columns can be equal, and stand in one column, without a cast of texts."""
    if one.type is None or other.type is None or one.type == other.type:
        return True
    return (is_numeric_type(one.type) and is_numeric_type(other.type)) or {one.type, other.type} <= _TIMES


def common_type(one: StepColumn, other: StepColumn) -> str | None:
    """Return the type of a column that has the values of two, if it is known."""
    if one.type == other.type:
        return one.type
    if one.type in _WIDENING and other.type in _WIDENING:
        return max(one.type, other.type, key=_WIDENING.index)
    return None


def aggregate_type(function: Aggregate, kind: str | None) -> str | None:
    """Return the type of an aggregate of a column of this type, if it is known."""
    if function.startswith("count"):
        return "long"
    if function in {"least", "most"} or kind is None:
        return kind
    if decimal := _DECIMAL.fullmatch(kind):
        more = (10, 0) if function == "sum" else (4, 4)
        precision, scale = (min(int(decimal[n + 1]) + more[n], _MAX_PRECISION) for n in range(2))
        return f"decimal({precision}, {scale})"
    return "long" if function == "sum" and kind in {"int", "long"} else "double"
