"""Endpoints of saved queries, results saved as tables, table maintenance and deleted tables.

Each change of a table is a run of the table.
"""

from typing import Annotated

from fastapi import Request
from pydantic import Field

from lakehold.api.http.dependencies import CreateContext, ReadContext, get_platform, read_transaction, write_transaction
from lakehold.api.http.models import IdText, ItemsResponse, NameText, RecordId, RecordTime, RequestModel, ResponseModel
from lakehold.api.http.routing import WORKER_CALL, make_router
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.api.lake.queries import DescribeQueryBody, SqlText, enter_workspace
from lakehold.api.runs import RunJson
from lakehold.workspaces.lakehouse import deleted_tables, maintenance, saved_queries

query_routes = make_router("/api/v1/saved-queries", "Queries")
table_routes = make_router("/api/v1/queries", "Queries")


class SavedQueryBody(RequestModel):
    """The text of a saved query."""

    sql: SqlText


class NewSavedQuery(SavedQueryBody):
    """A query to save."""

    workspace: IdText = Field(examples=["shop_lake"])
    name: NameText = Field(examples=["How many orders"])


class SavedQueryJson(ResponseModel):
    """A saved query."""

    id: IdText
    reads: list[str] = Field(examples=[["orders"]], description="The tables that it reads.")


class SaveAsTableBody(DescribeQueryBody):
    """A query, and the table to save its result as."""

    layer: IdText = Field(examples=["service"], description="The layer in which it is created.")
    name: NameText = Field(examples=["order_count"], description="Small letters, digits and _.")


class SavedTableJson(ResponseModel):
    """A new table, and the run that fills it."""

    table: str = Field(examples=["order_count"])
    run: str = Field(examples=["run_1f0c3f1de1a44d54"])


@query_routes.post("", status_code=201, **WORKER_CALL)
def save_query(request: Request, body: NewSavedQuery) -> SavedQueryJson:
    """Save a query of your own, with the tables that it reads."""
    place = enter_workspace(request, body.workspace)
    found = saved_queries.tables_read(get_platform(request), place, body.sql)
    created = write_transaction(request).run(
        lambda ctx: saved_queries.create_saved_query(ctx, body.workspace, body.name, body.sql, found)
    )
    return SavedQueryJson(id=created, reads=found)


@query_routes.put("/{query}", **WORKER_CALL)
def replace_query_text(request: Request, query: IdText, body: SavedQueryBody) -> SavedQueryJson:
    """Replace the text of a query of your own, or of one that fills a table.

    The tables that it reads are determined anew.
    """
    place = read_transaction(request).run(lambda ctx: saved_queries.query_scope(ctx, query))
    found = saved_queries.tables_read(get_platform(request), place, body.sql)
    write_transaction(request).run(lambda ctx: saved_queries.update_sql(ctx, query, body.sql, found))
    return SavedQueryJson(id=query, reads=found)


@table_routes.post("/save", status_code=202, **WORKER_CALL)
def save_query_as_table(request: Request, body: SaveAsTableBody) -> SavedTableJson:
    """Save the result as a table of a layer. A run fills it, and can be repeated."""
    place = enter_workspace(request, body.workspace)
    found = saved_queries.tables_read(get_platform(request), place, body.sql)
    table, run = write_transaction(request).run(
        lambda ctx: saved_queries.save_result_as_table(ctx, body.layer, body.name, body.sql, found)
    )
    return SavedTableJson(table=table, run=run.id)


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
    """The name and the layer of the restored table."""

    name: NameText | None = Field(default=None, examples=[None], description="Default: the old name.")
    layer: IdText | None = Field(default=None, examples=[None], description="Default: the layer in which it was.")


class RestoredTableJson(ResponseModel):
    """A table that exists again."""

    table: IdText = Field(examples=["order_count"])
    name: NameText = Field(examples=["order_count"])
    edited: list[IdText] = Field(
        examples=[[]],
        description="What read or wrote it and was edited meanwhile, and so is not connected with it again.",
    )


class FormerGrantJson(ResponseModel):
    """A role that somebody held on the table."""

    subject: IdText = Field(examples=["ana"])
    role: str = Field(examples=["viewer"])


class DroppedTableJson(ResponseModel):
    """A deleted table whose rows still exist."""

    id: RecordId
    name: NameText
    layer: IdText = Field(examples=["clean"])
    dropped_at: RecordTime
    held: list[FormerGrantJson] = Field(description="Grants on the table itself, which come back with it.")


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
def list_dropped_tables(ctx: ReadContext, lake: CurrentLake) -> ItemsResponse[DroppedTableJson]:
    """List deleted tables that you may restore."""
    return ItemsResponse[DroppedTableJson].from_records(deleted_tables.list_restorable(ctx, lake))


@dropped_routes.post("/{table}/restore")
def restore_table(ctx: CreateContext, lake: CurrentLake, table: IdText, body: RestoreTableBody) -> RestoredTableJson:
    """Restore a deleted table as it was: its id, rows, grants, and what reads and writes it."""
    found = deleted_tables.restore_table(ctx, lake, table, body.name or "", body.layer or "")
    return RestoredTableJson(table=found.uid, name=found.name, edited=[each.uid for each in found.edited])
