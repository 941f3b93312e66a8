"""Pages by key, not by number: what is added or taken away meanwhile moves nothing under the reader's feet.

`next` is opaque. It holds where the next page begins and belongs to the list that it came from; what was altered, or
comes from another list, is refused.
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

from lakehold.api.frame.models import Answer
from lakehold.kit.errors import InvalidInputError

T = TypeVar("T")
S = TypeVar("S")

DEFAULT = 50
MOST = 200
_LONGEST = 4_000
_BIGGEST = 2**62

Key = str | int


class Page(Answer, Generic[T]):
    """One page of a list."""

    items: list[T]
    next: str | None = Field(
        default=None, examples=["WyJvcmRlcnMiXQ"], description="Send it as `after` for the next page; null at the end."
    )


class Paging:
    """How much is wanted, and from where on."""

    __slots__ = ("after", "limit")

    def __init__(self, limit: int, after: str | None) -> None:
        self.limit = limit
        self.after = after

    def start(self, of: str, *shape: type[Key]) -> tuple[Key, ...] | None:
        """The key that the page begins behind; None for the first page. `of` names the list, with its filters."""
        return None if self.after is None else read_cursor(self.after, of, *shape)

    def page(self, of: str, rows: Sequence[S], key: Callable[[S], Sequence[Key]], show: Callable[[S], T]) -> Page[T]:
        """The page of these rows. Fetch one more than `limit`: it tells whether there is a next page."""
        shown = rows[: self.limit]
        following = cursor(of, key(shown[-1])) if len(rows) > self.limit else None
        return Page(items=[show(row) for row in shown], next=following)


def cursor(of: str, key: Sequence[Key]) -> str:
    """Where the next page begins."""
    text = json.dumps([_mark(of), *key], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_cursor(text: str, of: str, *shape: type[Key]) -> tuple[Key, ...]:
    """The key in a cursor of this list."""
    mark, *key = _parts(text)
    fits = len(key) == len(shape) and all(type(part) is kind for part, kind in zip(key, shape, strict=False))
    small = all(not isinstance(part, int) or abs(part) < _BIGGEST for part in key)
    if mark != _mark(of) or not fits or not small:
        raise _unreadable()
    return tuple(key)


def _parts(text: str) -> list[Key]:
    try:
        found = json.loads(base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        raise _unreadable() from None
    if not isinstance(found, list) or not found:
        raise _unreadable()
    if any("\0" in part for part in found if isinstance(part, str)):
        raise _unreadable()
    return found


def _mark(of: str) -> str:
    return sha256(of.encode()).hexdigest()[:8]


def _unreadable() -> InvalidInputError:
    return InvalidInputError(
        "The cursor `after` cannot be read, or is of another list.", "Send what came as `next`, or leave it out."
    )


async def _paging(
    limit: Annotated[int, Query(ge=1, le=MOST, description="How many at the most.")] = DEFAULT,
    after: Annotated[
        str | None, Query(max_length=_LONGEST, description="`next` of the page before.", examples=["WyJvcmRlcnMiXQ"])
    ] = None,
) -> Paging:
    return Paging(limit, after or None)


Paged = Annotated[Paging, Depends(_paging)]
"""For every endpoint that answers with a `Page`."""
