"""Reads fields and snapshots of a table from its Iceberg metadata file, without Spark.

A metadata file never changes once it is written, so it may be cached; the catalog says which one is current.
"""

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
_CACHE_SIZE = 256


@dataclass(frozen=True, slots=True)
class IcebergField:
    """One field of a table."""

    name: str
    type: str
    """As Iceberg calls it: `long`, `decimal(10, 2)`, `list<string>`."""
    required: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True)
class IcebergSnapshot:
    """One snapshot of a table."""

    id: int
    parent: int | None
    at: datetime
    operation: str
    summary: Mapping[str, str]

    @property
    def mark(self) -> str:
        """Identifier of the write that made the snapshot."""
        return self.summary.get(MARK, "")

    def count(self, name: str) -> int:
        """Return a number of the snapshot's summary, such as `added-records`, `total-records` or `added-files-size`."""
        return int(self.summary.get(name, "0"))


@dataclass(frozen=True, slots=True)
class IcebergMetadata:
    """The metadata of a table at one moment."""

    location: str
    fields: tuple[IcebergField, ...]
    snapshots: tuple[IcebergSnapshot, ...]
    """The oldest first. Those that have expired are gone."""
    current: IcebergSnapshot | None
    holds_dropped_fields: bool = False
    """Whether a snapshot has fields that the table has no more."""

    def snapshot_of_write(self, mark: str) -> IcebergSnapshot | None:
        """Return the snapshot that this write has already made; None if it has made none."""
        return next((each for each in reversed(self.snapshots) if each.mark == mark), None)

    def snapshot(self, number: int) -> IcebergSnapshot:
        """Return the snapshot with this id, or refuse."""
        for each in self.snapshots:
            if each.id == number:
                return each
        raise NotFoundError(f"There is no snapshot {number}.", "It may have expired; choose another one.")


def read_file(location: str) -> bytes:
    """Return the content of a file in the warehouse."""
    system, path = pyarrow.fs.FileSystem.from_uri(location)
    with system.open_input_file(path) as file:
        content: bytes = file.read()
    return content


read_metadata_file = lru_cache(maxsize=_CACHE_SIZE)(read_file)
"""Returns the content of a metadata file."""


@lru_cache(maxsize=_CACHE_SIZE)
def load_metadata(location: str) -> IcebergMetadata:
    """Parse a metadata file."""
    return parse_metadata(location, read_metadata_file(location))


def parse_metadata(location: str, text: bytes) -> IcebergMetadata:
    """Parse the content of a metadata file."""
    content = json.loads(text)
    schema = next(each for each in content["schemas"] if each["schema-id"] == content["current-schema-id"])
    ids = {each["schema-id"]: {field["id"] for field in each["fields"]} for each in content["schemas"]}
    had = (ids.get(each.get("schema-id"), set[int]()) for each in content.get("snapshots") or ())
    snapshots = tuple(sorted(map(_parse_snapshot, content.get("snapshots") or ()), key=lambda each: each.at))
    current = content.get("current-snapshot-id")
    return IcebergMetadata(
        location,
        tuple(
            IcebergField(each["name"], _type_name(each["type"]), each["required"], each.get("doc", ""))
            for each in schema["fields"]
        ),
        snapshots,
        next((each for each in snapshots if each.id == current), None),
        any(fields - ids[schema["schema-id"]] for fields in had),
    )


def _parse_snapshot(entry: Mapping[str, Any]) -> IcebergSnapshot:
    summary = dict(entry.get("summary") or {})
    at = datetime.fromtimestamp(entry["timestamp-ms"] / 1000, UTC)
    return IcebergSnapshot(
        entry["snapshot-id"], entry.get("parent-snapshot-id"), at, summary.pop("operation", ""), summary
    )


def _type_name(type_json: str | Mapping[str, Any]) -> str:
    if isinstance(type_json, str):
        return type_json
    match type_json["type"]:
        case "list":
            return f"list<{_type_name(type_json['element'])}>"
        case "map":
            return f"map<{_type_name(type_json['key'])}, {_type_name(type_json['value'])}>"
        case _:
            inner = (f"{each['name']}: {_type_name(each['type'])}" for each in type_json["fields"])
            return f"struct<{', '.join(inner)}>"
