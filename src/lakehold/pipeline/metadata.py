"""What a table is and was, from its metadata file: fields and snapshots, without Spark.

A metadata file never changes once it is written, so it may be remembered; which one is valid is asked of the lake.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import pyarrow.fs

from lakehold.kit.errors import NotFoundError

MARK = "lakehold.write"
"""The property of a snapshot that says which write made it: the same write is not made twice."""
_REMEMBERED = 256


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a table."""

    name: str
    type: str
    """As Iceberg calls it: `long`, `decimal(10, 2)`, `list<string>`."""
    required: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One state that a table has had."""

    id: int
    parent: int | None
    at: datetime
    operation: str
    summary: Mapping[str, str]

    @property
    def mark(self) -> str:
        """Which write made it."""
        return self.summary.get(MARK, "")

    def count(self, name: str) -> int:
        """A number of its summary: `added-records`, `total-records`, `added-files-size` and the like."""
        return int(self.summary.get(name, "0"))


@dataclass(frozen=True, slots=True)
class Metadata:
    """A table at one moment."""

    location: str
    fields: tuple[Field, ...]
    snapshots: tuple[Snapshot, ...]
    """The oldest first. Those that have expired are gone."""
    current: Snapshot | None

    def made_by(self, mark: str) -> Snapshot | None:
        """The snapshot that this write has made already."""
        return next((each for each in reversed(self.snapshots) if each.mark == mark), None)

    def snapshot(self, number: int) -> Snapshot:
        """The snapshot of this number, or a refusal."""
        for each in self.snapshots:
            if each.id == number:
                return each
        raise NotFoundError(f"There is no snapshot {number}.", "It may have expired; choose another one.")

    def as_of(self, at: datetime) -> Snapshot:
        """The snapshot that the table had then."""
        before = [each for each in self.snapshots if each.at <= at]
        if not before:
            raise NotFoundError(f"The table has no rows as of {at:%Y-%m-%d %H:%M:%S %Z}.", "Ask for a later time.")
        return before[-1]


@lru_cache(maxsize=_REMEMBERED)
def text(location: str) -> bytes:
    """A metadata file as it lies there."""
    system, path = pyarrow.fs.FileSystem.from_uri(location)
    with system.open_input_file(path) as file:
        content: bytes = file.read()
    return content


@lru_cache(maxsize=_REMEMBERED)
def read(location: str) -> Metadata:
    """What a metadata file tells."""
    told = json.loads(text(location))
    schema = next(each for each in told["schemas"] if each["schema-id"] == told["current-schema-id"])
    snapshots = tuple(sorted(map(_snapshot, told.get("snapshots") or ()), key=lambda each: each.at))
    current = told.get("current-snapshot-id")
    return Metadata(
        location,
        tuple(
            Field(each["name"], _type(each["type"]), each["required"], each.get("doc", "")) for each in schema["fields"]
        ),
        snapshots,
        next((each for each in snapshots if each.id == current), None),
    )


def _snapshot(told: Mapping[str, Any]) -> Snapshot:
    summary = dict(told.get("summary") or {})
    at = datetime.fromtimestamp(told["timestamp-ms"] / 1000, UTC)
    return Snapshot(told["snapshot-id"], told.get("parent-snapshot-id"), at, summary.pop("operation", ""), summary)


def _type(told: str | Mapping[str, Any]) -> str:
    if isinstance(told, str):
        return told
    match told["type"]:
        case "list":
            return f"list<{_type(told['element'])}>"
        case "map":
            return f"map<{_type(told['key'])}, {_type(told['value'])}>"
        case _:
            inner = (f"{each['name']}: {_type(each['type'])}" for each in told["fields"])
            return f"struct<{', '.join(inner)}>"
