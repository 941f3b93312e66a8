"""Who may do what with one thing: members × actions."""

from __future__ import annotations

from dataclasses import dataclass

THROUGH = {
    "direct": ("check", "Given to them"),
    "group": ("users", "Through a group"),
    "inherited": ("layers", "From above"),
    "role": ("shield", "By their role"),
}
"""How a right is held: its icon, and its words."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One member and one action."""

    allowed: bool
    through: str = "direct"
    note: str = ""
    href: str = ""
    """Where it is explained."""
    until: str = ""
    """When it ends, if it does."""


@dataclass(frozen=True, slots=True)
class Row:
    """One member, with a cell for every action."""

    name: str
    note: str = ""
    href: str = ""
    cells: tuple[Cell, ...] = ()
