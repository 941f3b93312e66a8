"""The pieces that conditions are put together from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lakehold.access.model.expressions import Step

YES, NO = "1 = 1", "1 = 0"

# PostgreSQL turns an EXISTS into a join, or works it out for all rows beforehand. One that ends so stays a look-up.
STAYS = "LIMIT 1 OFFSET 0"

_PLAIN = re.compile(r"(request )?[a-z0-9_.]+")


@dataclass(frozen=True, slots=True)
class Term:
    """A member or a resource in a statement."""

    sql: str
    fixed: bool
    pairs: str = ""
    """The set of those members and resources that are asked together here; empty if nobody needs to know."""


@dataclass(frozen=True, slots=True)
class End:
    """What an edge leads to, and of which kinds it can be."""

    term: Term
    kinds: tuple[str, ...]


def literal(word: str) -> str:
    """A word of a model as an SQL literal. Models have plain words only, and this is where that is relied on."""
    if not _PLAIN.fullmatch(word):
        raise ValueError(word)
    return f"'{word}'"


def compared(column: str, nothing: str = "0") -> str:
    """A column by which rows are tested once they are found. Bare, a planner may find rows by it: then each member of a
    set is a look-up of its own, a hundred instead of one.
    """
    return f"COALESCE({column}, {nothing})"


def in_words(words: Iterable[str]) -> str:
    """`IN ('a', 'b')`, or `= 'a'` for one."""
    listed = [literal(word) for word in sorted(words)]
    return f"= {listed[0]}" if len(listed) == 1 else f"IN ({', '.join(listed)})"


def edge_names(step: Step, kind: str) -> Iterator[str]:
    """The edge as it is kept: with the kind that it leads away from."""
    return (f"{source}.{step.edge}" for source in (step.kinds if step.back else (kind,)))


def joined(word: str, parts: Iterable[str]) -> str:
    """The parts joined by AND or OR, without those that say nothing."""
    neutral, absorbing = (NO, YES) if word == "OR" else (YES, NO)
    kept: list[str] = []
    for part in parts:
        if part == absorbing:
            return absorbing
        if part != neutral:
            kept.append(part)
    if len(kept) < 2:  # noqa: PLR2004 - nothing to join
        return kept[0] if kept else neutral
    return f"({f' {word} '.join(kept)})"
