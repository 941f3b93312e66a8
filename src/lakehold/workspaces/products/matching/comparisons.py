"""The comparisons of two records: for each attribute, the levels of agreement from equal to different.

Attributes that agree or differ together are one comparison, so that they are not counted twice: the parts of an
address are compared as one place. Given and family names that were swapped are one level of the given name, and
then say nothing of the family name.

A level has the share of pairs of one entity that are expected at it before anything was learnt (`m`), and the shares
among pairs of its rivals: other records that look alike for a reason, such as members of a household. What a rival
does not name is as with any two records.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lakehold.workspaces.products.attribute_types import AttributeType, part_column

RELATIVE = "relative"
"""Another person of the same household: family name, place and phone agree."""
NAMESAKE = "namesake"
"""Another person of the same name, and so perhaps with an e-mail address made of it."""
BRANCH = "branch"
"""A subsidiary or branch: the name begins alike, the domain agrees."""
NEIGHBOUR = "neighbour"
"""Another company at the same place."""


class MatchedAttribute(NamedTuple):
    """An attribute that matching compares."""

    name: str
    type: AttributeType

    def column(self, part: str = "key") -> str:
        """Return the column of a part."""
        return part_column(self.name, part)


@dataclass(frozen=True, slots=True)
class Level:
    """A level of agreement: its SQL condition over columns that end in _l and _r; the last level has none."""

    label: str
    condition: str
    m: float
    rivals: Mapping[str, float] = field(default_factory=dict)
    frequency: str = ""
    """The column whose rare values weigh more than frequent ones."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of two records in one respect; where a value is missing, it says nothing."""

    name: str
    columns: tuple[str, ...]
    missing: str
    levels: tuple[Level, ...]

    @property
    def has_frequency(self) -> bool:
        """Return whether rare values weigh more in it."""
        return any(level.frequency for level in self.levels)

    def rivals(self) -> set[str]:
        """Return the rivals whose shares its levels name."""
        return {rival for level in self.levels for rival in level.rivals}

    def to_splink(self, m: Sequence[float], u: Sequence[float]) -> dict[str, Any]:
        """Return the comparison as Splink reads it."""
        levels: list[dict[str, Any]] = [
            {"sql_condition": self.missing, "label_for_charts": "missing", "is_null_level": True}
        ]
        for place, level in enumerate(self.levels):
            entry: dict[str, Any] = {"sql_condition": level.condition, "label_for_charts": level.label}
            entry |= {"m_probability": m[place], "u_probability": u[place]}
            if level.frequency:
                entry |= {"tf_adjustment_column": level.frequency, "disable_tf_exact_match_detection": True}
            levels.append(entry)
        return {"output_column_name": self.name, "comparison_levels": levels}

    def level_case(self) -> str:
        """Return the SQL expression of the place of its level; -1 where a value is missing."""
        cases = [f"when {level.condition} then {place}" for place, level in enumerate(self.levels[:-1])]
        return (
            f"case when {self.missing} then -1 {' '.join(cases)} else {len(self.levels) - 1} end as level_{self.name}"
        )


def levels_query(comparisons: Sequence[Comparison], pairs: str, more: str = "", table: str = "prepared") -> str:
    """Return the query of the level of each comparison for a table of pairs with `id_l` and `id_r`."""
    columns = sorted({column for each in comparisons for column in each.columns})
    sides = "".join(f", {side}.{column} as {column}_{side}" for column in columns for side in "lr")
    joined = f"{pairs} p join {table} l on l.id = p.id_l join {table} r on r.id = p.id_r"
    levels = "".join(f", {each.level_case()}" for each in comparisons)
    return f"select id_l, id_r{more}{levels} from (select p.*{sides} from {joined})"


def equal(column: str) -> str:
    """Return the condition that both have the same value."""
    return f"{column}_l = {column}_r"


def absent(*columns: str) -> str:
    """Return the condition that one of the two lacks a value."""
    return " or ".join(f"{column}_{side} is null" for column in columns for side in "lr")


def edits(column: str, most: int, length: int = 0) -> str:
    """Return the condition that so many typing errors lie between the values, which have at least that length."""
    shape = f"abs(length({column}_l) - length({column}_r)) <= {most}"
    # The cheap tests come first: counting the errors takes ten times as long as all others.
    near = f"{shape} and jaro_similarity({column}_l, {column}_r, 0.75) > 0"
    least = f"length({column}_l) >= {length} and " if length else ""
    return f"({least}{near} and damerau_levenshtein({column}_l, {column}_r) <= {most})"


def alike(column: str, least: float) -> str:
    """Return the condition that the values are alike by Jaro-Winkler."""
    return f"jaro_winkler_similarity({column}_l, {column}_r, {least}) > 0"


def find_rivals(comparisons: Sequence[Comparison]) -> list[str]:
    """Return the rivals that can be told from the same entity by these comparisons."""
    shared = {rival: sum(rival in each.rivals() for each in comparisons) for rival in _rivals(comparisons)}
    return sorted(rival for rival, count in shared.items() if count < len(comparisons))


def _rivals(comparisons: Sequence[Comparison]) -> Iterator[str]:
    names = {each.name for each in comparisons}
    if "given_name" in names:
        yield RELATIVE
        if "family_name" in names:
            yield NAMESAKE
    if "company_name" in names:
        yield BRANCH
        if "place" in names:
            yield NEIGHBOUR
