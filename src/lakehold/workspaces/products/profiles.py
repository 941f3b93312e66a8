"""Profiles of the columns of a source: counts, distributions, patterns, and what attribute a column may be.

What a row says (examples, frequent values, limits) is kept apart from counts, so that it can be left out for those who
may not read rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from lakehold.workspaces.products.attribute_types import AttributeType

_LIKELY_KEY = 0.95
"""The share of distinct values from which a column may be a key; distinct values are counted with an error."""


@dataclass(frozen=True, slots=True)
class ValueCount:
    """A value or pattern, and in how many rows it is, about."""

    value: str
    rows: int


@dataclass(frozen=True, slots=True)
class HistogramBin:
    """A part of a distribution: the middle of a bin, as the values are written, and how many rows it has, about."""

    middle: str
    rows: int


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """The values of a column that rows disclose. They are left out for those who may not read rows."""

    least: str | None = None
    greatest: str | None = None
    frequent: tuple[ValueCount, ...] = ()
    examples: tuple[str, ...] = ()
    histogram: tuple[HistogramBin, ...] = ()
    """Of a column of numbers, dates or times."""


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """The profile of a column. Distinct values are counted with an error of some percent."""

    name: str
    data_type: str
    rows: int = 0
    nulls: int = 0
    blanks: int = 0
    """Texts of spaces only, and empty ones."""
    distinct: int = 0
    is_unique: bool | None = None
    """Whether no two rows share a value; None if that was not looked at."""
    mean_length: float = 0.0
    patterns: tuple[ValueCount, ...] = ()
    """The patterns of values, with A for letters and 9 for digits. They say nothing of one row."""
    value_type: AttributeType | None = None
    """The type that the values alone suggest."""
    attribute_type: AttributeType | None = None
    """The type that the values and the name suggest."""
    values: ColumnValues | None = None

    @property
    def filled(self) -> int:
        """The number of rows that have a value."""
        return self.rows - self.nulls - self.blanks

    @property
    def uniqueness(self) -> float:
        """The share of distinct values among those that there are."""
        return min(1.0, self.distinct / self.filled) if self.filled else 0.0

    @property
    def may_be_key(self) -> bool:
        """Whether the column may identify rows, as far as counts tell."""
        if self.is_unique is not None:
            return self.is_unique
        return self.rows > 0 and self.filled == self.rows and self.uniqueness >= _LIKELY_KEY


@dataclass(frozen=True, slots=True)
class SourceProfile:
    """The profile of a source."""

    rows: int = 0
    columns: tuple[ColumnProfile, ...] = ()

    def without_values(self) -> Self:
        """Return the profile for those who may not read rows: counts and patterns alone."""
        return replace(self, columns=tuple(replace(each, values=None) for each in self.columns))

    def column(self, name: str) -> ColumnProfile | None:
        """Return the profile of a column; None if there is none."""
        return next((each for each in self.columns if each.name == name), None)

    def to_json(self) -> dict[str, Any]:
        """Return the profile as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Return the profile that JSON values describe."""
        return cls(stored["rows"], tuple(_column(each) for each in stored["columns"]))


def _column(stored: Mapping[str, Any]) -> ColumnProfile:
    values = stored["values"]
    return ColumnProfile(
        **{
            **stored,
            "patterns": _counts(stored["patterns"]),
            "value_type": _type(stored["value_type"]),
            "attribute_type": _type(stored["attribute_type"]),
            "values": _values(values) if values else None,
        }
    )


def _type(stored: str | None) -> AttributeType | None:
    return AttributeType(stored) if stored else None


def _values(stored: Mapping[str, Any]) -> ColumnValues:
    return ColumnValues(
        least=stored["least"],
        greatest=stored["greatest"],
        frequent=_counts(stored["frequent"]),
        examples=tuple(stored["examples"]),
        histogram=tuple(HistogramBin(**each) for each in stored["histogram"]),
    )


def _counts(stored: Sequence[Mapping[str, Any]]) -> tuple[ValueCount, ...]:
    return tuple(ValueCount(**each) for each in stored)
