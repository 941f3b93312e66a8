"""Metadata of an entry besides its facts: e-mail address, service account, description and settings."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lakehold.access.model.errors import quote_excerpt
from lakehold.access_as_code import file_format
from lakehold.access_as_code.parser import ListNode, MappingNode, Node, error_at

FIELDS = ("email", "service", "description", "settings")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_LONGEST_NUMBER = 300
_CONSTANTS: Mapping[str, object] = {"true": True, "false": False, "null": None, "~": None, "": None}


@dataclass(frozen=True, slots=True)
class EntryMetadata:
    """The metadata of one entry, without secrets. What is empty is left out."""

    email: str = ""
    service: bool = False
    """Whether the member is a service account."""
    description: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)

    def merged_over(self, before: EntryMetadata) -> EntryMetadata:
        """Return the metadata after these files. An address that they leave out stays."""
        return self if self.email else replace(self, email=before.email)

    def is_same(self, other: EntryMetadata) -> bool:
        """Whether both are equal as JSON, where true and 1 differ."""
        one, two = (json.dumps(each.to_json(), sort_keys=True) for each in (self, other))
        return one == two

    def to_json(self) -> dict[str, object]:
        """Return the metadata as a JSON object, without what is empty."""
        found = {name: getattr(self, name) for name in FIELDS}
        return {name: dict(value) if isinstance(value, Mapping) else value for name, value in found.items() if value}


def with_field(metadata: EntryMetadata, field_name: str, node: Node) -> EntryMetadata:
    """Return the metadata with one more field, read from a node."""
    match field_name:
        case "email":
            return replace(metadata, email=_valid_email(node))
        case "service":
            if file_format.read_text(node, "service") != "true":
                raise error_at(node.place, "`service:` can only be true.", "Remove the line for a person.")
            return replace(metadata, service=True)
        case "description":
            return replace(metadata, description=file_format.read_text(node, "description"))
        case _:
            file_format.read_mapping(node, "`settings:`")
            found = to_json_value(node)
            return replace(metadata, settings=found if isinstance(found, dict) else {})


def _valid_email(node: Node) -> str:
    address = file_format.read_text(node, "email")
    before, _, after = address.partition("@")
    if not before or not after or "@" in after or any(letter.isspace() for letter in address):
        raise error_at(node.place, f"{quote_excerpt(address)} is no e-mail address.", "Write name@host.")
    return address


def to_json_value(node: Node) -> object:
    """Return the value of a node as JSON has it: a number, a text, true, false or null, lists and mappings of them."""
    if isinstance(node, MappingNode):
        return {name: to_json_value(part) for name, (_, part) in node.entries.items()}
    if isinstance(node, ListNode):
        return [to_json_value(part) for part in node.items]
    if not node.bare:
        return node.value
    if node.value in _CONSTANTS:
        return _CONSTANTS[node.value]
    is_number = len(node.value) <= _LONGEST_NUMBER and _NUMBER.fullmatch(node.value)
    return json.loads(node.value) if is_number else node.value
