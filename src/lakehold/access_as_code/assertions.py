"""Assertions in the files: `tests:` with who, can, cannot, on what and at which time."""

from collections.abc import Iterator
from dataclasses import dataclass

from lakehold.access.model.errors import SourceLocation
from lakehold.access.model.expressions import give_relation, invite_relation
from lakehold.access_as_code import file_format
from lakehold.access_as_code.parser import Node, ProblemList, error_at
from lakehold.kit.clock import Moment

KEYS = ("name", "who", "can", "cannot", "on", "at")
ROLE_ACTIONS = {"give": give_relation, "invite": invite_relation}


@dataclass(frozen=True, slots=True)
class Expectation:
    """One action, with a role where it carries one, and whether it is to be allowed."""

    action: str
    role: str | None
    allowed: bool

    def __str__(self) -> str:
        return f"{self.action} {self.role}" if self.role else self.action

    @property
    def relation(self) -> str:
        """The name of the relation in the models."""
        return ROLE_ACTIONS[self.action](self.role) if self.role else self.action


@dataclass(frozen=True, slots=True)
class Assertion:
    """One entry of `tests:`."""

    name: str
    who: tuple[str, ...]
    on: tuple[str, ...]
    expected: tuple[Expectation, ...]
    at: Moment | None
    place: SourceLocation


def read_assertions(node: Node, problems: ProblemList) -> Iterator[Assertion]:
    """Yield the entries of a section `tests:`."""
    for part in file_format.read_items(node):
        with problems.collect():
            yield _read_assertion(part)


def _read_assertion(node: Node) -> Assertion:
    found = file_format.read_fields(node, "a test", KEYS)
    for key in ("who", "on"):
        if key not in found:
            raise error_at(node.place, f"`{key}:` is missing in a test.", "A test says who can do what, on what.")
    if not found.keys() & {"can", "cannot"}:
        raise error_at(
            node.place, "a test needs `can:` or `cannot:`.", "List the actions that must be allowed, or must not."
        )
    expected = (*_read_expectations(found, "can", allowed=True), *_read_expectations(found, "cannot", allowed=False))
    who, on = _texts(found["who"], "who"), _texts(found["on"], "on")
    allowed = {str(part) for part in expected if part.allowed}
    both = next((str(part) for part in expected if not part.allowed and str(part) in allowed), None)
    if both is not None:
        raise error_at(node.place, f"this test says both can and cannot of {both!r}.", "Keep one of them.")
    name = file_format.read_text(found["name"], "name") if "name" in found else _default_name(who, on, expected)
    at = file_format.read_moment(found["at"], "at") if "at" in found else None
    return Assertion(name, who, on, expected, at, node.place)


def _texts(node: Node, what: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(file_format.read_text(part, what) for part in file_format.read_items(node)))
    if not found:
        raise error_at(node.place, f"`{what}:` is empty.", "Name at least one.")
    return found


def _read_expectations(found: dict[str, Node], key: str, *, allowed: bool) -> Iterator[Expectation]:
    if key not in found:
        return
    for text in _texts(found[key], key):
        action, _, role = text.partition(" ")
        if role and action not in ROLE_ACTIONS:
            raise error_at(
                found[key].place, f"{action!r} takes no role.", "Only give and invite do: `can: give viewer`."
            )
        if action in ROLE_ACTIONS and not role:
            raise error_at(found[key].place, f"{action!r} needs a role.", f"Name it: `{key}: {action} viewer`.")
        yield Expectation(action, role.strip() or None, allowed)


def _default_name(who: tuple[str, ...], on: tuple[str, ...], expected: tuple[Expectation, ...]) -> str:
    parts = [
        f"{word} {', '.join(str(part) for part in expected if part.allowed == allowed)}"
        for word, allowed in (("can", True), ("cannot", False))
        if any(part.allowed == allowed for part in expected)
    ]
    return f"{', '.join(who)} {' and '.join(parts)} on {', '.join(on)}"
