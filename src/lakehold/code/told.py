"""What is told of a thing beside its facts: the address and nature of a member, a description, settings."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lakehold.access.model.errors import quote_excerpt
from lakehold.code import words
from lakehold.code.nodes import Node, Row, Table
from lakehold.code.problems import wrong

WORDS = ("email", "service", "description", "settings")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_LONGEST_NUMBER = 300
_CONSTANTS: Mapping[str, object] = {"true": True, "false": False, "null": None, "~": None, "": None}


@dataclass(frozen=True, slots=True)
class Told:
    """All of it; what is empty is not told. Secrets are no part of it."""

    email: str = ""
    service: bool = False
    """Whether the member is a service account."""
    description: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)

    def over(self, before: Told) -> Told:
        """What it is to be after these files. An address that they leave out is left as it is."""
        return self if self.email else replace(self, email=before.email)

    def same(self, other: Told) -> bool:
        """Whether both say the same. True and 1 are not the same setting."""
        one, two = (json.dumps(told.to_json(), sort_keys=True) for told in (self, other))
        return one == two

    def to_json(self) -> dict[str, object]:
        """What is told, as JSON can hold it."""
        found = {name: getattr(self, name) for name in WORDS}
        return {name: dict(value) if isinstance(value, Mapping) else value for name, value in found.items() if value}


def read(told: Told, word: str, node: Node) -> Told:
    """What was told before, and this."""
    match word:
        case "email":
            return replace(told, email=_email(node))
        case "service":
            if words.text(node, "service") != "true":
                raise wrong(node.place, "`service:` can only be true.", "Remove the line for a person.")
            return replace(told, service=True)
        case "description":
            return replace(told, description=words.text(node, "description"))
        case _:
            words.table(node, "`settings:`")
            found = value(node)
            return replace(told, settings=found if isinstance(found, dict) else {})


def _email(node: Node) -> str:
    address = words.text(node, "email")
    before, _, after = address.partition("@")
    if not before or not after or "@" in after or any(letter.isspace() for letter in address):
        raise wrong(node.place, f"{quote_excerpt(address)} is no e-mail address.", "Write name@host.")
    return address


def value(node: Node) -> object:
    """What stands there as JSON has it: a number, a text, true, false or nothing, lists and mappings of them."""
    if isinstance(node, Table):
        return {name: value(part) for name, (_, part) in node.entries.items()}
    if isinstance(node, Row):
        return [value(part) for part in node.items]
    if not node.bare:
        return node.value
    if node.value in _CONSTANTS:
        return _CONSTANTS[node.value]
    is_number = len(node.value) <= _LONGEST_NUMBER and _NUMBER.fullmatch(node.value)
    return json.loads(node.value) if is_number else node.value
