"""Lists whose search, filters, sorting and page are in their URL, so that a list can be shared as a link."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlencode

from fastapi import Request

from lakehold.kit.ids import fold_name
from lakehold.web.form_values import parse_integer

T = TypeVar("T")

PAGE_SIZE = 50
_MAX_SEARCH_LENGTH = 200


@dataclass(frozen=True, slots=True)
class ListColumn:
    """A column of a list."""

    label: str
    sort: str = ""
    """The word by which the list is sorted, if it can be by this column."""
    number: bool = False
    wide: bool = False
    """Whether it is left out where there is little room."""


@dataclass(frozen=True, slots=True)
class ListFilter:
    """A filter of a list: its options as values and labels, without the one for all."""

    key: str
    label: str
    options: tuple[tuple[str, str], ...]

    def valid_choice(self, value: str) -> str:
        """Return the value if it is one of the options; empty otherwise."""
        return value if value in dict(self.options) else ""


@dataclass(frozen=True, slots=True)
class ListState:
    """The search, filters, sorting and page that a URL asks for. Invalid values are ignored."""

    path: str
    search: str = ""
    sort: str = ""
    descending: bool = False
    page: int = 1
    after: str = ""
    """Where the page begins, in a list that is paged by the engine."""
    size: int = PAGE_SIZE
    filters: tuple[ListFilter, ...] = ()
    chosen: Mapping[str, str] = field(default_factory=dict)
    first_sort: str = ""

    @classmethod
    def from_request(
        cls, request: Request, sorts: Sequence[str], filters: Sequence[ListFilter] = (), size: int = PAGE_SIZE
    ) -> ListState:
        """Parse the URL of a request. The first of `sorts` is the default; a leading `-` sorts descending."""
        query = request.query_params
        word = query.get("sort", "")
        sort = word if word.lstrip("-") in {known.lstrip("-") for known in sorts} else sorts[0]
        return cls(
            path=request.url.path,
            search=query.get("q", "").strip()[:_MAX_SEARCH_LENGTH],
            sort=sort.lstrip("-"),
            descending=sort.startswith("-"),
            page=parse_integer(query.get("page", ""), digits=6) or 1,
            after=query.get("after", ""),
            size=size,
            filters=tuple(filters),
            chosen={each.key: each.valid_choice(query.get(each.key, "")) for each in filters},
            first_sort=sorts[0],
        )

    @property
    def is_narrowed(self) -> bool:
        """Whether a search or a filter is set."""
        return bool(self.search or any(self.chosen.values()))

    @property
    def before(self) -> int | None:
        """The number before which the page begins, in a list that is paged by the numbers of its rows."""
        return parse_row_number(self.after)

    @property
    def order(self) -> str:
        """The word that the list is sorted by, with a leading `-` if it is descending."""
        return f"-{self.sort}" if self.descending else self.sort

    @property
    def query(self) -> dict[str, Any]:
        """The arguments of a query for a list that is paged by the engine."""
        return {"search": self.search, "sort": self.order, "after": self.after or None, "limit": self.size}

    def href(self, **changes: object) -> str:
        """Return the URL of this list with some parameters changed. Without a page it begins at the first."""
        sort = "" if self.order == self.first_sort else self.order
        values = {"q": self.search, **self.chosen, "sort": sort, **changes}
        kept = {key: str(value) for key, value in values.items() if value and (key, value) != ("page", 1)}
        return f"{self.path}?{urlencode(kept)}" if kept else self.path

    def sorted_by(self, sort: str) -> str:
        """Return the URL sorted by a column; descending if it is sorted by it already."""
        down = self.sort == sort and not self.descending
        word = f"-{sort}" if down else sort
        return self.href(sort="" if word == self.first_sort else word)

    def select(
        self, rows: Iterable[T], text: Callable[[T], str], keys: Mapping[str, Callable[[T], Any]] | None = None
    ) -> list[T]:
        """Return the rows whose text contains the search, sorted by the chosen key; without keys, by their text."""
        search_text = fold_name(self.search)
        found = [row for row in rows if search_text in fold_name(text(row))]
        return sorted(found, key=keys[self.sort] if keys else lambda row: fold_name(text(row)), reverse=self.descending)

    def slice_page(self, rows: Sequence[T]) -> Sequence[T]:
        """Return the rows of the current page, of a list that is in memory."""
        start = (self.page - 1) * self.size
        return rows[start : start + self.size]

    def page_values(self, rows: Sequence[T]) -> dict[str, object]:
        """Return the template values of a list that is in memory."""
        return {"listing": self, "rows": self.slice_page(rows), "total": len(rows)}

    def cursor_values(self, rows: Sequence[T], after: str | None) -> dict[str, object]:
        """Return the template values of a list that is paged by the engine, with the cursor of the next page."""
        return {"listing": self, "rows": rows, "after": after or ""}

    def pages(self, total: int) -> int:
        """Return the number of pages."""
        return max(1, -(-total // self.size))


def parse_row_number(text: str) -> int | None:
    """Parse the number of a row; return None if the text is not one that a database can have."""
    return parse_integer(text, digits=18)
