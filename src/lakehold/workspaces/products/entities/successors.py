"""The entities that a retired id stands for now: its successors, and theirs if they are retired as well."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

RETIRING_CHANGES = frozenset({"merged", "split", "gone"})
"""The changes after which an entity may be no more. One that was split and lives on is among its own successors."""

LoadSuccessors = Callable[[Collection[str]], Mapping[str, Sequence[str]]]
"""Returns the successors of those of the entities that are retired."""


def retired_entities(changes: Iterable[tuple[str, str, Sequence[str]]]) -> dict[str, Sequence[str]]:
    """Return the successors of each retired entity, of rows with entity, change and successors."""
    return {
        entity: successors
        for entity, change, successors in changes
        if change in RETIRING_CHANGES and entity not in successors
    }


def find_successors(entity: str, load: LoadSuccessors) -> list[str] | None:
    """Return the living entities that an id stands for, or None if it is not retired; it is asked once per link of the
    chain, for all of that link together.
    """
    first = load([entity])
    if entity not in first:
        return None
    living, seen, waiting = set[str](), {entity}, set(first[entity])
    while waiting := waiting - seen:
        seen |= waiting
        found = load(sorted(waiting))
        living |= waiting - found.keys()
        waiting = {each for successors in found.values() for each in successors}
    return sorted(living)
