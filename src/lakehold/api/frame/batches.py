"""Many things in one request, all or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Generic, TypeVar

from pydantic import Field

from lakehold.api.frame.models import Answer, Body
from lakehold.kit.errors import LakeholdError

T = TypeVar("T")
R = TypeVar("R")

MOST = 100


class Batch(Body, Generic[T]):
    """What is to be done with each."""

    items: Annotated[list[T], Field(min_length=1, max_length=MOST)]


class Batched(Answer, Generic[R]):
    """What came of each, in the order of the request."""

    items: list[R]


def each(items: Sequence[T], do: Callable[[T], R]) -> list[R]:
    """Do all of it, or nothing: the first refusal names its place, and ends the transaction."""
    done: list[R] = []
    for place, item in enumerate(items):
        try:
            done.append(do(item))
        except LakeholdError as error:
            error.message = f"Item {place + 1} of {len(items)}: {error.message}"
            raise
    return done
