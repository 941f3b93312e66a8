"""Cursor-based paging, which is stable while rows are added or removed.

`next` is opaque. It holds the key that the next page begins after, and belongs to the list that it came from; a
cursor that was altered, or comes from another list, is refused.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Annotated, Generic, TypeVar

from fastapi import Depends, Query
from pydantic import Field

from lakehold.api.http.models import ResponseModel
from lakehold.kit.errors import InvalidInputError

T = TypeVar("T")
S = TypeVar("S")

DEFAULT_LIMIT = 50
MAX_LIMIT = 200
_MAX_CURSOR_LENGTH = 4_000
_MAX_INT_KEY = 2**62

CursorKey = str | int


class PageResponse(ResponseModel, Generic[T]):
    """One page of a list."""

    items: list[T]
    next: str | None = Field(
        default=None, examples=["WyJvcmRlcnMiXQ"], description="Send it as `after` for the next page; null at the end."
    )


class PageRequest:
    """The limit and cursor of a page request."""

    __slots__ = ("after", "limit")

    def __init__(self, limit: int, after: str | None) -> None:
        self.limit = limit
        self.after = after

    def start_key(self, of: str, *shape: type[CursorKey]) -> tuple[CursorKey, ...] | None:
        """Return the key that the page begins after; None for the first page. `of` names the list, with its filters."""
        return None if self.after is None else decode_cursor(self.after, of, *shape)

    def build_page(
        self, of: str, rows: Sequence[S], key: Callable[[S], Sequence[CursorKey]], show: Callable[[S], T]
    ) -> PageResponse[T]:
        """Build the page of these rows. Fetch one more than `limit`, which tells whether there is a next page."""
        page_rows = rows[: self.limit]
        next_cursor = encode_cursor(of, key(page_rows[-1])) if len(rows) > self.limit else None
        return PageResponse(items=[show(row) for row in page_rows], next=next_cursor)


def encode_cursor(of: str, key: Sequence[CursorKey]) -> str:
    """Encode the key that the next page begins after."""
    text = json.dumps([_list_digest(of), *key], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_cursor(text: str, of: str, *shape: type[CursorKey]) -> tuple[CursorKey, ...]:
    """Decode a cursor of this list."""
    mark, *key = _parse_cursor(text)
    fits = len(key) == len(shape) and all(type(part) is kind for part, kind in zip(key, shape, strict=False))
    small = all(not isinstance(part, int) or abs(part) < _MAX_INT_KEY for part in key)
    if mark != _list_digest(of) or not fits or not small:
        raise _invalid_cursor()
    return tuple(key)


def _parse_cursor(text: str) -> list[CursorKey]:
    try:
        found = json.loads(base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        raise _invalid_cursor() from None
    if not isinstance(found, list) or not found:
        raise _invalid_cursor()
    if any("\0" in part for part in found if isinstance(part, str)):
        raise _invalid_cursor()
    return found


def _list_digest(of: str) -> str:
    return sha256(of.encode()).hexdigest()[:8]


def _invalid_cursor() -> InvalidInputError:
    return InvalidInputError(
        "The cursor `after` cannot be read, or is of another list.", "Send what came as `next`, or leave it out."
    )


async def _page_request(
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT, description="How many at the most.")] = DEFAULT_LIMIT,
    after: Annotated[
        str | None,
        Query(max_length=_MAX_CURSOR_LENGTH, description="`next` of the page before.", examples=["WyJvcmRlcnMiXQ"]),
    ] = None,
) -> PageRequest:
    return PageRequest(limit, after or None)


PageParams = Annotated[PageRequest, Depends(_page_request)]
"""For every endpoint that answers with a `Page`."""
