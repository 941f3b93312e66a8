"""How relations that no model names itself are called: they have a space, so nothing can clash with them."""

from __future__ import annotations

CREATE = "create it"
EDIT = "edit it"
DELETE = "delete it"


def give(role: str) -> str:
    """Who may give or take this role."""
    return f"give {role}"


def invite(role: str) -> str:
    """Who may invite somebody as this."""
    return f"invite {role}"


def put(attribute: str, value: str) -> str:
    """Who may set this attribute to this value."""
    return f"put {attribute} {value}"


def link(edge: str) -> str:
    """Who may set this edge."""
    return f"link {edge}"
