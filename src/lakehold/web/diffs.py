"""What a change does: to the fields of one thing, and to what people may do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """One field, before and after. None where there was nothing, or is nothing any more."""

    field: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Effect:
    """How many members win or lose an action on how many things."""

    gained: bool
    members: int
    action: str
    resources: int
    kind: str
    """The things in the singular: table."""
    href: str = ""
    """Where they are listed."""
