"""A list as its address says: searched, filtered, sorted and paged, so that it can be sent to somebody."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import urlencode

from fastapi import Request

T = TypeVar("T")

SIZE = 50
_LONGEST_SEARCH = 200
_NUMBER = re.compile(r"[0-9]{1,6}")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    label: str
    sort: str = ""
    """The word by which the list is sorted, if it can be by this column."""
    number: bool = False
    wide: bool = False
    """Whether it is left out where there is little room."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Something to choose among; the first option stands for all."""

    key: str
    label: str
    options: tuple[tuple[str, str], ...]
    """Values and their words, without the one for all."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What the address asks for. What it asks wrongly is as if it had not been asked."""

    path: str
    search: str = ""
    sort: str = ""
    descending: bool = False
    page: int = 1
    after: str = ""
    """Where the page begins, in a list that is paged by the engine."""
    size: int = SIZE
    filters: tuple[Filter, ...] = ()
    chosen: Mapping[str, str] = field(default_factory=dict)
    first_sort: str = ""

    @classmethod
    def of(cls, request: Request, sorts: Sequence[str], filters: Sequence[Filter] = (), size: int = SIZE) -> Listing:
        """Read the address. The first of `sorts` is taken where it says none; `-name` is downwards."""
        asked = request.query_params
        word = asked.get("sort", "")
        sort = word if word.lstrip("-") in {known.lstrip("-") for known in sorts} else sorts[0]
        page = asked.get("page", "")
        return cls(
            path=request.url.path,
            search=asked.get("q", "").strip()[:_LONGEST_SEARCH],
            sort=sort.lstrip("-"),
            descending=sort.startswith("-"),
            page=max(int(page), 1) if _NUMBER.fullmatch(page) else 1,
            after=asked.get("after", ""),
            size=size,
            filters=tuple(filters),
            chosen={each.key: _chosen(each, asked.get(each.key, "")) for each in filters},
            first_sort=sorts[0],
        )

    @property
    def is_narrowed(self) -> bool:
        """Whether something was searched or filtered."""
        return bool(self.search or any(self.chosen.values()))

    def href(self, **changes: object) -> str:
        """The address of this list with something changed. A new question begins at the first page."""
        sort = f"-{self.sort}" if self.descending else self.sort
        values: dict[str, object] = {"q": self.search, **self.chosen, "sort": "" if sort == self.first_sort else sort}
        values.update(changes)
        kept = {key: str(value) for key, value in values.items() if value and (key, value) != ("page", 1)}
        return f"{self.path}?{urlencode(kept)}" if kept else self.path

    def sorted_by(self, sort: str) -> str:
        """The address sorted by a column; downwards if it is already."""
        down = self.sort == sort and not self.descending
        word = f"-{sort}" if down else sort
        return self.href(sort="" if word == self.first_sort else word)

    def part(self, rows: Sequence[T]) -> Sequence[T]:
        """The page of a list that is small enough to have in hand."""
        start = (self.page - 1) * self.size
        return rows[start : start + self.size]

    def pages(self, total: int) -> int:
        """How many pages there are."""
        return max(1, -(-total // self.size))


def _chosen(asked: Filter, value: str) -> str:
    return value if value in dict(asked.options) else ""
