"""The ids of records and entities: made from what they are, so that a step that is repeated makes the same."""

import hashlib
from collections.abc import Sequence

_SEPARATOR = "\x1f"
_MARKER_LENGTH, _KEY_LENGTH, _ENTITY_LENGTH = 8, 24, 20
OVERRIDE = "override"
"""What stands for a record where a curator has set a value."""


def source_marker(source: str = "", *, record: str = "") -> str:
    """Return what ids of records of a source begin with; or what such an id begins with."""
    return record[:_MARKER_LENGTH] if record else _digest(source)[:_MARKER_LENGTH]


def record_id(source: str, key: Sequence[str]) -> str:
    """Return the id of the record of a source with these key values."""
    return source_marker(source) + _digest(_SEPARATOR.join((source, *key)))[:_KEY_LENGTH]


def entity_id(run: str, record: str) -> str:
    """Return the id of an entity that a run has made, by its smallest record."""
    return "e" + _digest(_SEPARATOR.join((run, record)))[:_ENTITY_LENGTH]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
