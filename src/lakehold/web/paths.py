"""Why somebody may: the path from the person to the thing, one node after the other."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Node:
    """A step of a path: a person, a group, a grant, a layer, a table."""

    kind: str
    label: str
    icon: str = ""
    href: str = ""
    held: bool = True
    """Whether it is there. One that is not is what is missing."""
    note: str = ""
    """Said between this node and the one before: how they hang together."""


@dataclass(frozen=True, slots=True)
class Path:
    """One way to the right. Of a denial: one way that would lead there, and who could open it."""

    nodes: tuple[Node, ...]
    rule: str = ""
    place: str = ""
    givers: tuple[str, ...] = ()
    request: str = ""

    @property
    def held(self) -> bool:
        """Whether every step is there."""
        return all(node.held for node in self.nodes)
