"""Names of fields: a source may leave them out or give one twice, a table may not."""

from __future__ import annotations

from collections.abc import Iterable

LONGEST = 250


def distinct(names: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names, each of them there and there once to SQL, and what was changed, in words."""
    wanted = [" ".join(name.split())[:LONGEST] for name in names]
    taken: set[str] = set()
    # A name that is there as it should be keeps its place against those that are made up.
    reserved = {name.lower() for name in wanted if name}
    found: list[str] = []
    notes: list[str] = []
    for number, name in enumerate(wanted, start=1):
        made = name or f"column_{number}"
        if made.lower() in taken or (not name and made.lower() in reserved):
            made = _free(made, taken | reserved)
        if made != name:
            told = f"is called {name!r} like another one" if name else "has no name"
            notes.append(f"Field {number} {told}; it is read as {made!r}.")
        taken.add(made.lower())
        found.append(made)
    return tuple(found), tuple(notes)


def _free(name: str, taken: set[str]) -> str:
    number = 2
    while f"{name}_{number}".lower() in taken:
        number += 1
    return f"{name}_{number}"
