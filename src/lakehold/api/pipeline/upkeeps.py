"""Tables that are kept up, rolled back, described; and those that were deleted. Each change is a run of the table."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from lakehold.api.frame.models import Answer, Body, IdText, NameText, Time, time_of
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Creating, Reading
from lakehold.api.iceberg.catalog import InLake
from lakehold.api.pipeline.runs import Run, told_run
from lakehold.workspaces.lakehouse import dropped_tables, maintenance

routes = router("/api/v1/tables", "Tables")
dropped_routes = router("/api/v1/dropped-tables", "Tables")


class RollBack(Body):
    """A state that the table has had."""

    snapshot: Annotated[str, Field(pattern=r"^-?[0-9]{1,19}$")] = Field(examples=["7215431590032011452"])


class FieldTexts(Body):
    """What fields mean; those that are not named stay as they are."""

    descriptions: Annotated[dict[NameText, Annotated[str, Field(max_length=2_000)]], Field(max_length=1_000)] = Field(
        examples=[{"amount": "In euros."}]
    )


class NewName(Body):
    """What the table is to be called."""

    name: NameText | None = Field(default=None, examples=[None], description="Without one: as it was.")


class HeldThen(Answer):
    """A level that somebody had."""

    subject: IdText = Field(examples=["ana"])
    role: str = Field(examples=["viewer"])


class DroppedTable(Answer):
    """A table that was deleted, and whose rows are there."""

    id: IdText
    name: NameText
    layer: IdText = Field(examples=["clean"])
    dropped_at: Time
    held: list[HeldThen] = Field(description="Who had a level on the table itself; nobody gets it back by itself.")


class DroppedTables(Answer):
    """Those that you may restore, the newest first."""

    items: list[DroppedTable]


class Restored(Answer):
    """What was begun."""

    table: IdText = Field(examples=["1f0c3f1de1a44d54"], description="Its new id.")
    run: str = Field(examples=["run_1f0c3f1de1a44d54"])


@routes.post("/{table}/upkeep", status_code=202)
def keep_up_table(ctx: Creating, table: IdText) -> Run:
    """Make few files of many, let old snapshots go, delete what killed writes have left. No row changes."""
    return told_run(maintenance.maintain_table(ctx, table))


@routes.post("/{table}/rollback", status_code=202)
def roll_back_table(ctx: Creating, lake: InLake, table: IdText, body: RollBack) -> Run:
    """Let the table be as it was. What came after stays until it expires."""
    return told_run(maintenance.roll_back_table(ctx, lake, table, int(body.snapshot)))


@routes.post("/{table}/descriptions", status_code=202)
def describe_fields(ctx: Creating, lake: InLake, table: IdText, body: FieldTexts) -> Run:
    """Say what fields mean. The description of the table itself is one of the resource."""
    return told_run(maintenance.describe_fields(ctx, lake, table, body.descriptions))


@dropped_routes.get("")
def list_dropped_tables(ctx: Reading, lake: InLake) -> DroppedTables:
    """Tables that were deleted and that you may restore."""
    found = dropped_tables.dropped_tables(ctx, lake)
    items = [
        DroppedTable(
            id=each.uid,
            name=each.name,
            layer=each.layer,
            dropped_at=time_of(each.dropped_at),
            held=[HeldThen(subject=subject, role=role) for subject, role in each.grants],
        )
        for each in found
    ]
    return DroppedTables(items=items)


@dropped_routes.post("/{table}/restore", status_code=202)
def restore_table(ctx: Creating, lake: InLake, table: IdText, body: NewName) -> Restored:
    """Bring a deleted table back, with its rows and description, under a new id. Rights come from its layer."""
    made, run = dropped_tables.restore_table(ctx, lake, table, body.name or "")
    return Restored(table=made, run=run.id)
