"""The principal of a decision: a member, or an API token that acts as its member and may be narrowed, never widened."""

from dataclasses import dataclass

from lakehold.access.facts.records import require_collection, require_text
from lakehold.access.facts.view import FactView


@dataclass(frozen=True, slots=True)
class TokenPrincipal:
    """An API token that acts as its member, live; `actions` and `resources` (with all that lies in them) narrow it."""

    member: str
    actions: frozenset[str] | None = None
    resources: frozenset[str] | None = None

    def __post_init__(self) -> None:
        """Validate the narrowing; a single string is refused, because it would be read letter by letter."""
        for name, narrowing in (("actions", self.actions), ("resources", self.resources)):
            if narrowing is not None:
                validated = frozenset(
                    require_text(part, name[:-1]) for part in require_collection(narrowing, name[:-1])
                )
                object.__setattr__(self, name, validated)

    @property
    def is_narrowed(self) -> bool:
        """Whether the token may do less than its member. Such a token makes no tokens, invites or grants."""
        return self.actions is not None or self.resources is not None


Principal = str | TokenPrincipal


def lies_within(view: FactView, resource: int, containers: frozenset[str]) -> bool:
    """Return whether the resource is one of these containers, or lies in one of them."""
    # As `view.containers`, which as a generator would take twice as long for each of many resources.
    here: int | None = resource
    while here is not None:
        if view.uids.get(here) in containers:
            return True
        parent = view.policy.kind(view.kind(here)).parent
        here = next(iter(view.edges_out[parent.edge].get(here) or ()), None) if parent else None
    return False
