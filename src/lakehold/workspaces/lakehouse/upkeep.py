"""Tables are kept up, rolled back and described by hand: each time as a run of the table. `scheduling` does it too."""

from __future__ import annotations

from collections.abc import Mapping

from lakehold import workspaces
from lakehold.catalog import details, kinds
from lakehold.directory.work import Work
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import shown
from lakehold.pipeline import reading
from lakehold.pipeline.lake import Lake, Place
from lakehold.pipeline.metadata import Metadata
from lakehold.runs.runnable import Wanted
from lakehold.runs.runs import Run, Runs
from lakehold.workspaces.lakehouse.pipelines.pipeline import TABLE
from lakehold.workspaces.lakehouse.pipelines.upkeep import DESCRIBE, DO, ROLLBACK, UPKEEP

KEPT = 5
"""So many of its last snapshots a table keeps, however old they are."""
_LONGEST_TEXT, _MOST_FIELDS = 2_000, 1_000


def keep(work: Work, uid: str) -> Run:
    """Make few files of many, let old snapshots go, delete what killed writes have left."""
    return _start(work, uid, {DO: UPKEEP})


def roll_back(work: Work, lake: Lake, uid: str, snapshot: int) -> Run:
    """Let the table be as it was. What came after stays until it expires, and can be rolled back to."""
    need_table(work, uid, "rollback")
    _now(work, lake, uid).snapshot(snapshot)
    return _start(work, uid, {DO: ROLLBACK, "snapshot": snapshot})


def describe(work: Work, lake: Lake, uid: str, fields: Mapping[str, str]) -> Run:
    """Say what some of its fields mean."""
    need_table(work, uid, "edit")
    there = [field.name for field in _now(work, lake, uid).fields]
    for name, text in fields.items():
        if name not in there:
            raise InvalidInputError(f"The table has no field {shown(name)}.", f"It has: {', '.join(there[:50])}.")
        if len(details.valid_description(text)) > _LONGEST_TEXT:
            raise InvalidInputError(f"The description of {shown(name)} is too long.", f"Use {_LONGEST_TEXT:,} at most.")
    if not fields or len(fields) > _MOST_FIELDS:
        raise InvalidInputError("No field is named, or too many are.", f"Name one, or {_MOST_FIELDS:,} at the most.")
    return _start(work, uid, {DO: DESCRIBE, "fields": dict(fields)})


def need_table(work: Work, uid: str, action: str) -> None:
    """Refuse unless it is a table with which the caller may do this."""
    work.see(uid, action)
    schema = kinds.schema_of(work.view, uid)
    if schema.id != TABLE:
        raise InvalidInputError(f"A {schema.title.lower()} is no table.", "Choose a table.")
    work.need(action, uid)


def _now(work: Work, lake: Lake, uid: str) -> Metadata:
    found = lake.now(Place(work.session.tenant, work.view.resource(uid)))
    if found is None:
        raise NotFoundError("The table has no data yet.", "Run what fills it.")
    return found


def _start(work: Work, uid: str, told: Mapping[str, object]) -> Run:
    reading.refuse_viewer(work)
    need_table(work, uid, "see")
    return Runs(workspaces.runnables()).start(work, uid, Wanted(parameters=told))
