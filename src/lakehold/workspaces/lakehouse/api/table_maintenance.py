"""Endpoints of table maintenance and of deleted tables. Each change is a run of the table."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from lakehold.api.http.dependencies import CreateContext, ReadContext
from lakehold.api.http.models import IdText, NameText, RequestModel, ResponseModel, Time, to_datetime
from lakehold.api.http.routing import make_router
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.api.runs import RunJson
from lakehold.workspaces.lakehouse import dropped_tables, maintenance

routes = make_router("/api/v1/tables", "Tables")
dropped_routes = make_router("/api/v1/dropped-tables", "Tables")


class RollbackBody(RequestModel):
    """The snapshot to roll back to."""

    snapshot: Annotated[str, Field(pattern=r"^-?[0-9]{1,19}$")] = Field(examples=["7215431590032011452"])


class FieldDescriptionsBody(RequestModel):
    """Descriptions of fields; those that are not named stay."""

    descriptions: Annotated[dict[NameText, Annotated[str, Field(max_length=2_000)]], Field(max_length=1_000)] = Field(
        examples=[{"amount": "In euros."}]
    )


class RestoreTableBody(RequestModel):
    """The name of the restored table."""

    name: NameText | None = Field(default=None, examples=[None], description="Without one: as it was.")


class FormerGrantJson(ResponseModel):
    """A role that somebody held on the table."""

    subject: IdText = Field(examples=["ana"])
    role: str = Field(examples=["viewer"])


class DroppedTableJson(ResponseModel):
    """A deleted table whose rows still exist."""

    id: IdText
    name: NameText
    layer: IdText = Field(examples=["clean"])
    dropped_at: Time
    held: list[FormerGrantJson] = Field(
        description="Who had a level on the table itself; nobody gets it back by itself."
    )


class DroppedTableListJson(ResponseModel):
    """Tables that you may restore, newest first."""

    items: list[DroppedTableJson]


class RestoredTableJson(ResponseModel):
    """The restored table, and the run that fills it."""

    table: IdText = Field(examples=["1f0c3f1de1a44d54"], description="Its new id.")
    run: str = Field(examples=["run_1f0c3f1de1a44d54"])


@routes.post("/{table}/upkeep", status_code=202)
def keep_up_table(ctx: CreateContext, table: IdText) -> RunJson:
    """Compact the files of a table, expire old snapshots, and delete orphan files. No row changes."""
    return RunJson.model_validate(maintenance.maintain_table(ctx, table))


@routes.post("/{table}/rollback", status_code=202)
def roll_back_table(ctx: CreateContext, lake: CurrentLake, table: IdText, body: RollbackBody) -> RunJson:
    """Roll a table back to a snapshot. Later snapshots stay until they expire."""
    return RunJson.model_validate(maintenance.roll_back_table(ctx, lake, table, int(body.snapshot)))


@routes.post("/{table}/descriptions", status_code=202)
def describe_fields(ctx: CreateContext, lake: CurrentLake, table: IdText, body: FieldDescriptionsBody) -> RunJson:
    """Set the descriptions of fields. The description of the table itself belongs to the resource."""
    return RunJson.model_validate(maintenance.describe_fields(ctx, lake, table, body.descriptions))


@dropped_routes.get("")
def list_dropped_tables(ctx: ReadContext, lake: CurrentLake) -> DroppedTableListJson:
    """List deleted tables that you may restore."""
    found = dropped_tables.dropped_tables(ctx, lake)
    items = [
        DroppedTableJson(
            id=each.uid,
            name=each.name,
            layer=each.layer,
            dropped_at=to_datetime(each.dropped_at),
            held=[FormerGrantJson(subject=subject, role=role) for subject, role in each.grants],
        )
        for each in found
    ]
    return DroppedTableListJson(items=items)


@dropped_routes.post("/{table}/restore", status_code=202)
def restore_table(ctx: CreateContext, lake: CurrentLake, table: IdText, body: RestoreTableBody) -> RestoredTableJson:
    """Restore a deleted table, with its rows and description, under a new id. Rights come from its layer."""
    made, run = dropped_tables.restore_table(ctx, lake, table, body.name or "")
    return RestoredTableJson(table=made, run=run.id)
