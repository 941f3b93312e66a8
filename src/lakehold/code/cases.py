"""Assertions kept in the files: `tests:` with who, can, cannot, on what and at which time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lakehold.access.model.errors import SourceLocation
from lakehold.code import words
from lakehold.code.nodes import Node
from lakehold.code.problems import Problems, wrong
from lakehold.kit.clock import Moment

KEYS = ("name", "who", "can", "cannot", "on", "at")
CARRYING = ("give", "invite")


@dataclass(frozen=True, slots=True)
class Expected:
    """One action, with a role where it carries one, and whether it is to be allowed."""

    action: str
    role: str | None
    allowed: bool

    def __str__(self) -> str:
        return f"{self.action} {self.role}" if self.role else self.action


@dataclass(frozen=True, slots=True)
class Case:
    """One entry of `tests:`."""

    name: str
    who: tuple[str, ...]
    on: tuple[str, ...]
    expected: tuple[Expected, ...]
    at: Moment | None
    place: SourceLocation


def read(node: Node, problems: Problems) -> Iterator[Case]:
    """The entries of a section `tests:`."""
    for part in words.row(node):
        with problems.caught():
            yield _case(part)


def _case(node: Node) -> Case:
    found = words.fields(node, "a test", KEYS)
    for wanted in ("who", "on"):
        if wanted not in found:
            raise wrong(node.place, f"`{wanted}:` is missing in a test.", "A test says who can do what, on what.")
    if not found.keys() & {"can", "cannot"}:
        raise wrong(node.place, "a test needs `can:` or `cannot:`.", "Say which actions are to be allowed, or not.")
    expected = (*_expected(found, "can", allowed=True), *_expected(found, "cannot", allowed=False))
    who, on = _texts(found["who"], "who"), _texts(found["on"], "on")
    _refuse_both(node, expected)
    name = words.text(found["name"], "name") if "name" in found else _told(who, on, expected)
    at = words.moment(found["at"], "at") if "at" in found else None
    return Case(name, who, on, expected, at, node.place)


def _texts(node: Node, what: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(words.text(part, what) for part in words.row(node)))
    if not found:
        raise wrong(node.place, f"`{what}:` names nothing.", "Name at least one.")
    return found


def _expected(found: dict[str, Node], key: str, *, allowed: bool) -> Iterator[Expected]:
    if key not in found:
        return
    for text in _texts(found[key], key):
        action, _, role = text.partition(" ")
        if role and action not in CARRYING:
            raise wrong(
                found[key].place, f"{action!r} carries no role.", "Only give and invite do: `can: give viewer`."
            )
        if action in CARRYING and not role:
            raise wrong(found[key].place, f"{action!r} needs a role.", f"Name it: `{key}: {action} viewer`.")
        yield Expected(action, role.strip() or None, allowed)


def _refuse_both(node: Node, expected: tuple[Expected, ...]) -> None:
    allowed = {str(part) for part in expected if part.allowed}
    both = next((part for part in expected if not part.allowed and str(part) in allowed), None)
    if both is not None:
        raise wrong(node.place, f"this test says both can and cannot of {str(both)!r}.", "Keep one of them.")


def _told(who: tuple[str, ...], on: tuple[str, ...], expected: tuple[Expected, ...]) -> str:
    parts = [
        f"{word} {', '.join(str(part) for part in expected if part.allowed == allowed)}"
        for word, allowed in (("can", True), ("cannot", False))
        if any(part.allowed == allowed for part in expected)
    ]
    return f"{', '.join(who)} {' and '.join(parts)} on {', '.join(on)}"
