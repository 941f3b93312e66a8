"""Cursor-based paging, which is stable while rows are added or removed.

`next` is opaque. It holds the key that the next page begins after, and belongs to the list that it came from; a
cursor that was altered, or comes from another list, is refused.
"""

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Annotated, Generic, Literal, TypeVar

from fastapi import Depends, Query
from pydantic import AliasChoices, Field

from lakehold.api.http.models import ItemsResponse, SearchText
from lakehold.kit.errors import InvalidInputError

T = TypeVar("T")
S = TypeVar("S")
K = TypeVar("K", str, int)

DEFAULT_LIMIT = 50
MAX_LIMIT = 200
_MAX_CURSOR_LENGTH = 4_000
_MAX_INT_KEY = 2**62

CursorKey = str | int
Sort = Literal["name", "-name", "created", "-created"]


class PageResponse(ItemsResponse[T], Generic[T]):
    """One page of a list."""

    next: str | None = Field(
        default=None,
        validation_alias=AliasChoices("next", "after"),
        examples=["WyJvcmRlcnMiXQ"],
        description="Send it as `after` for the next page; null at the end.",
    )


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The limit and cursor of a page request."""

    limit: int
    after: str | None

    def start_key(self, list_name: str, *shape: type[CursorKey]) -> tuple[CursorKey, ...] | None:
        """Return the key that the page begins after; None for the first page. `of` names the list, with its filters."""
        return None if self.after is None else decode_cursor(self.after, list_name, *shape)

    def start_after(self, list_name: str, kind: type[K]) -> K | None:
        """Return the key that the page begins after, if it has one part."""
        key = self.start_key(list_name, kind)
        return None if key is None else kind(key[0])

    def build_page(
        self, list_name: str, rows: Sequence[S], key: Callable[[S], Sequence[CursorKey]], show: Callable[[S], T]
    ) -> PageResponse[T]:
        """Build the page of these rows. Fetch one more than `limit`, which tells whether there is a next page."""
        page_rows = rows[: self.limit]
        next_cursor = encode_cursor(list_name, key(page_rows[-1])) if len(rows) > self.limit else None
        return PageResponse(items=[show(row) for row in page_rows], next=next_cursor)

    def slice_page(self, list_name: str, rows: Iterable[S], show: Callable[[S], T]) -> PageResponse[T]:
        """Build the page of a list that is complete, by the numbers of its rows."""
        skipped = self.start_after(list_name, int) or 0
        some = list(islice(enumerate(rows, start=1), skipped, skipped + self.limit + 1))
        return self.build_page(list_name, some, lambda numbered: (numbered[0],), lambda numbered: show(numbered[1]))


def encode_cursor(list_name: str, key: Sequence[CursorKey]) -> str:
    """Encode the key that the next page begins after."""
    text = json.dumps([_list_digest(list_name), *key], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_cursor(text: str, list_name: str, *shape: type[CursorKey]) -> tuple[CursorKey, ...]:
    """Decode a cursor of this list."""
    try:
        found = json.loads(base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        found = None
    match found:
        case [mark, *key] if (
            mark == _list_digest(list_name) and [*map(type, key)] == [*shape] and all(map(_is_key, key))
        ):
            return tuple(key)
    raise InvalidInputError(
        "The cursor `after` cannot be read, or is of another list.", "Send what came as `next`, or leave it out."
    )


def _is_key(part: CursorKey) -> bool:
    """Return whether a database can compare with this part."""
    return "\0" not in part if isinstance(part, str) else abs(part) < _MAX_INT_KEY


def _list_digest(list_name: str) -> str:
    return sha256(list_name.encode()).hexdigest()[:8]


async def _page_request(
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT, description="Maximum number of results.")] = DEFAULT_LIMIT,
    after: Annotated[
        str | None,
        Query(max_length=_MAX_CURSOR_LENGTH, description="`next` of the page before.", examples=["WyJvcmRlcnMiXQ"]),
    ] = None,
) -> PageRequest:
    return PageRequest(limit, after or None)


PageParams = Annotated[PageRequest, Depends(_page_request)]
"""The page parameters of an endpoint that returns a `PageResponse`."""


@dataclass(frozen=True, slots=True)
class PagedListRequest(PageRequest):
    """A page request of a list that can be searched and sorted."""

    search: str
    sort: Sort


async def _list_request(
    paged: PageParams, search: Annotated[SearchText, Query(description="A part of the name.")] = "", sort: Sort = "name"
) -> PagedListRequest:
    return PagedListRequest(paged.limit, paged.after, search, sort)


ListParams = Annotated[PagedListRequest, Depends(_list_request)]
"""The page parameters with a search and an order, for lists of the access engine."""
