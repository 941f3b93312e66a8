"""Who asks: a member, or an API token that acts as its member and may be narrowed, never widened."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.access.facts.inputs import several, text
from lakehold.access.facts.view import View


@dataclass(frozen=True, slots=True)
class Token:
    """Acts as its member, live. `actions` and `resources` narrow it; a resource stands for all that lies in it."""

    member: str
    actions: frozenset[str] | None = None
    resources: frozenset[str] | None = None

    def __post_init__(self) -> None:
        """A text is a row of letters, and none of them is meant."""
        for name, narrowing in (("actions", self.actions), ("resources", self.resources)):
            if narrowing is not None:
                kept = frozenset(text(part, name[:-1]) for part in several(narrowing, name[:-1]))
                object.__setattr__(self, name, kept)

    @property
    def is_narrowed(self) -> bool:
        """Whether it may do less than its member. Such a token makes no tokens, invites or grants."""
        return self.actions is not None or self.resources is not None


Asker = str | Token


def within(view: View, resource: int, places: frozenset[str]) -> bool:
    """Whether the resource is one of these, or lies in one of them."""
    here: int | None = resource
    while here is not None:
        if view.uids.get(here) in places:
            return True
        parent = view.policy.kind(view.kind(here)).parent
        here = next(iter(view.out[parent.edge].get(here) or ()), None) if parent else None
    return False
