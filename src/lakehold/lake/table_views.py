"""The view of a table that a member reads: without its hidden fields and, for most, as it is now and never was.

All doors to rows make it here: the Iceberg catalog with the Spark of members and other engines, previews, reports and
pages. What a view leaves out is in no metadata that leaves by them, so that neither time travel nor a metadata table
brings it back.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lakehold.catalog import resource_metadata
from lakehold.directory.request_context import RequestContext
from lakehold.kit.ids import fold_name
from lakehold.lake import readable_tables, table_metadata
from lakehold.lake.iceberg_catalog import IcebergCatalog, TableIdentifier
from lakehold.lake.table_metadata import IcebergMetadata
from lakehold.workspaces import registry

_CACHE_SIZE = 64


@dataclass(frozen=True, slots=True)
class TableView:
    """The view of a table for one caller, who may read its rows."""

    place: TableIdentifier
    hidden: frozenset[str] = frozenset()
    """The folded names of the fields that it leaves out."""
    current_only: bool = False
    """Whether it leaves out all snapshots but the current one."""

    def hides(self, field: str) -> bool:
        """Return whether a field is left out."""
        return fold_name(field) in self.hidden

    def read_metadata_file(self, location: str) -> bytes:
        """Return the content of a metadata file of the table without what the view leaves out."""
        if not self.hidden and not self.current_only:
            return table_metadata.read_metadata_file(location)
        return _restricted_file(location, self.hidden, self.current_only)

    def load_metadata(self, location: str) -> IcebergMetadata:
        """Parse a metadata file of the table without what the view leaves out."""
        if not self.hidden and not self.current_only:
            return table_metadata.load_metadata(location)
        return table_metadata.parse_metadata(location, self.read_metadata_file(location))

    def current_metadata(self, lake: IcebergCatalog) -> IcebergMetadata | None:
        """Return the current metadata of the table as the caller may see it; None if the table does not exist yet."""
        location = lake.metadata_location(self.place)
        return None if location is None else self.load_metadata(location)


def view_of(ctx: RequestContext, uid: str) -> TableView:
    """Return the view of a table for the caller, whose right to read its rows has been checked before.

    A registered table is shown as it is now to everybody: to read how it was is no right of those who read it here.
    """
    source = readable_tables.source_table(ctx, uid)
    needed = registry.describe_kind(ctx.view.kind(ctx.view.resource(uid))).reads_history
    current_only = source != uid or (bool(needed) and not ctx.session.check(ctx.principal, needed, uid))
    return TableView(readable_tables.identifier_of(ctx, source), hidden_fields(ctx, source), current_only)


def hidden_fields(ctx: RequestContext, uid: str) -> frozenset[str]:
    """Return the folded names of the fields of a table that are hidden from everybody."""
    kind, settings = ctx.view.kind(ctx.view.resource(uid)), resource_metadata.load(ctx, uid).settings
    return frozenset(resource_metadata.hidden_fields(kind, settings))


def retained_fields(metadata: IcebergMetadata, hidden: Collection[str]) -> list[str]:
    """Return the fields of a table that are hidden, but still stored."""
    return [each.name for each in metadata.fields if fold_name(each.name) in hidden]


@lru_cache(maxsize=_CACHE_SIZE)
def _restricted_file(location: str, hidden: frozenset[str], current_only: bool) -> bytes:  # noqa: FBT001 - the key of a cache
    content = json.loads(table_metadata.read_metadata_file(location))
    if current_only:
        _keep_current_snapshot(content)
    _drop_fields(content, hidden)
    return json.dumps(content).encode()


def _keep_current_snapshot(content: dict[str, Any]) -> None:
    current, schema = content.get("current-snapshot-id"), content["current-schema-id"]
    kept = [each for each in content.get("snapshots") or () if each["snapshot-id"] == current]
    for snapshot in kept:
        snapshot.pop("parent-snapshot-id", None)
        # Its own may have fields that the table has no more.
        snapshot["schema-id"] = schema
    content["schemas"] = [each for each in content["schemas"] if each["schema-id"] == schema]
    content["snapshots"] = kept
    content["refs"] = {"main": {"snapshot-id": current, "type": "branch"}} if kept else {}
    content["snapshot-log"] = [
        {"snapshot-id": each["snapshot-id"], "timestamp-ms": each["timestamp-ms"]} for each in kept
    ]
    for name in ("metadata-log", "statistics", "partition-statistics"):
        content[name] = []


def _drop_fields(content: dict[str, Any], hidden: frozenset[str]) -> None:
    if not hidden:
        return
    for schema in content["schemas"]:
        schema["fields"] = [each for each in schema["fields"] if fold_name(each["name"]) not in hidden]
        left = {each["id"] for each in schema["fields"]}
        schema["identifier-field-ids"] = [each for each in schema.get("identifier-field-ids") or () if each in left]
    # These name fields too, and how their values are distributed.
    content["properties"] = {
        name: value
        for name, value in (content.get("properties") or {}).items()
        if name != "schema.name-mapping.default"
    }
    content["statistics"] = []
