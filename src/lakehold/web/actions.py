"""What can be done with something, or why it cannot."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do. One that is not allowed is shown, says why, and offers to ask for it."""

    label: str
    href: str = ""
    method: str = "get"
    """`post` for what changes something: the macro makes a form of it."""
    icon: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    """What a POST sends along."""
    confirm: str = ""
    """A question that is asked first. The endpoint asks it too, see `confirming`."""
    danger: bool = False
    dialog: bool = False
    """Whether the page at the address opens over this one."""
    why_not: str = ""
    """Why it cannot be done, in a sentence. Empty if it can."""
    request: str = ""
    """Where to ask for the right that is missing."""
    why: str = ""
    """Where it is explained."""
