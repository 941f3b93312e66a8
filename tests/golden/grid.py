"""Tables as text, in the order and words of their source page, and the access checks of their cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pytest

from lakehold.access.decisions.principal import Principal
from lakehold.access.facts.records import Draft
from lakehold.kit.errors import LakeholdError
from tests.world import World

MARKS: Mapping[str, bool] = {"Yes": True, "✅": True, "✓": True, "": False, "❌": False, "-": False}


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in one row and column."""

    row: str
    column: str
    value: str


def cells(text: str) -> Iterator[Cell]:
    """Every cell of a table, the empty ones too."""
    head, *lines = [[part.strip() for part in line.split("|")] for line in text.strip().splitlines()]
    for row, *values in lines:
        for column, value in zip(head[1:], values, strict=True):
            yield Cell(row, column, value)


@dataclass(frozen=True, slots=True)
class AccessQuestion:
    """An access check. `give` carries a role; `edges` say where a resource is to point afterwards."""

    action: str
    target: str | Draft
    role: str | None = None
    edges: Mapping[str, str | Sequence[str]] | None = None

    def __call__(self, world: World, principal: Principal) -> bool:
        return world.decisions.check(principal, self.action, self.target, role=self.role, edges=self.edges)

    def __str__(self) -> str:
        target = self.target.kind if isinstance(self.target, Draft) else self.target
        return " ".join(part for part in (self.action, self.role, target) if part)


def rows(names: str, cases: Iterable[tuple[object, ...]]) -> pytest.MarkDecorator:
    """One test for each case; a case begins with what it is called."""
    known = list(cases)
    ids = [str(case[0]) for case in known]
    if len(set(ids)) != len(ids):
        raise ValueError(sorted(name for name in set(ids) if ids.count(name) > 1))
    return pytest.mark.parametrize(names.split(), [case[1:] for case in known], ids=ids)


def is_refused(question: Callable[[], bool]) -> bool:
    """Whether the check is denied or invalid."""
    try:
        return not question()
    except LakeholdError:
        return True
