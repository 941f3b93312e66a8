"""Tables are kept up, rolled back and described by hand: each time as a run of the table. `scheduling` does it too."""

from __future__ import annotations

from collections.abc import Mapping

from lakehold import workspaces
from lakehold.catalog import kinds, resource_metadata
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import IcebergCatalog, TableIdentifier
from lakehold.lake.table_metadata import IcebergMetadata
from lakehold.runs.runnable import RunOptions
from lakehold.runs.runs import Run, Runs
from lakehold.workspaces.lakehouse.pipelines.pipeline import TABLE
from lakehold.workspaces.lakehouse.pipelines.upkeep import DESCRIBE, DO, ROLLBACK, UPKEEP

KEPT = 5
"""So many of its last snapshots a table keeps, however old they are."""
_LONGEST_TEXT, _MOST_FIELDS = 2_000, 1_000


def keep(ctx: RequestContext, uid: str) -> Run:
    """Make few files of many, let old snapshots go, delete what killed writes have left."""
    return _start(ctx, uid, {DO: UPKEEP})


def roll_back(ctx: RequestContext, lake: IcebergCatalog, uid: str, snapshot: int) -> Run:
    """Let the table be as it was. What came after stays until it expires, and can be rolled back to."""
    need_table(ctx, uid, "rollback")
    _now(ctx, lake, uid).snapshot(snapshot)
    return _start(ctx, uid, {DO: ROLLBACK, "snapshot": snapshot})


def describe(ctx: RequestContext, lake: IcebergCatalog, uid: str, fields: Mapping[str, str]) -> Run:
    """Say what some of its fields mean."""
    need_table(ctx, uid, "edit")
    there = [field.name for field in _now(ctx, lake, uid).fields]
    for name, text in fields.items():
        if name not in there:
            raise InvalidInputError(f"The table has no field {quote(name)}.", f"It has: {', '.join(there[:50])}.")
        if len(resource_metadata.valid_description(text)) > _LONGEST_TEXT:
            raise InvalidInputError(f"The description of {quote(name)} is too long.", f"Use {_LONGEST_TEXT:,} at most.")
    if not fields or len(fields) > _MOST_FIELDS:
        raise InvalidInputError("No field is named, or too many are.", f"Name one, or {_MOST_FIELDS:,} at the most.")
    return _start(ctx, uid, {DO: DESCRIBE, "fields": dict(fields)})


def need_table(ctx: RequestContext, uid: str, action: str) -> None:
    """Refuse unless it is a table with which the caller may do this."""
    ctx.need_visible(uid, action)
    schema = kinds.schema_of(ctx.view, uid)
    if schema.id != TABLE:
        raise InvalidInputError(f"A {schema.title.lower()} is no table.", "Choose a table.")
    ctx.need(action, uid)


def _now(ctx: RequestContext, lake: IcebergCatalog, uid: str) -> IcebergMetadata:
    found = lake.current_metadata(TableIdentifier(ctx.session.tenant, ctx.view.resource(uid)))
    if found is None:
        raise NotFoundError("The table has no data yet.", "Run what fills it.")
    return found


def _start(ctx: RequestContext, uid: str, told: Mapping[str, object]) -> Run:
    readable_tables.refuse_impersonation(ctx)
    need_table(ctx, uid, "see")
    return Runs(workspaces.runnables()).start(ctx, uid, RunOptions(parameters=told))
