"""table, lineage: tables kept up, rolled back, described and restored; and what something is made from."""

from __future__ import annotations

from typing import Annotated

import typer

from lakehold.cli.door import at
from lakehold.cli.talk import talk
from lakehold.cli.verbs.running import Wait, ended, tell

verbs = typer.Typer(help="Tables: keep them up, roll them back, describe and restore them.", no_args_is_help=True)

_TABLES, _DROPPED, _LINEAGE = "/api/v1/tables", "/api/v1/dropped-tables", "/api/v1/lineage"
_Table = Annotated[str, typer.Argument(help="The table, by its id.", metavar="TABLE")]


@verbs.command()
def keep(ctx: typer.Context, table: _Table, *, wait: Wait = True) -> None:
    """Make few files of many, let old snapshots go, delete what killed writes have left."""
    _run(ctx, table, "upkeep", None, wait=wait)


@verbs.command()
def snapshots(ctx: typer.Context, table: _Table) -> None:
    """The states that a table has had, the newest first."""
    with talk(ctx) as to:
        found = to.door.ask("GET", at(_TABLES, table))["snapshots"]
        columns = {"id": "snapshot", "at": "when", "operation": "what", "added": "added", "rows": "rows"}
        to.table(found, columns, "Nothing was written into it yet.")


@verbs.command()
def rollback(
    ctx: typer.Context,
    table: _Table,
    snapshot: Annotated[str, typer.Argument(help="The state that it is to have again, by its id.")],
    *,
    wait: Wait = True,
) -> None:
    """Let a table be as it was."""
    _run(ctx, table, "rollback", {"snapshot": snapshot}, wait=wait)


@verbs.command()
def describe(
    ctx: typer.Context,
    table: _Table,
    field: Annotated[str, typer.Argument(help="A field of it.")],
    text: Annotated[str, typer.Argument(help="What it means.")],
    *,
    wait: Wait = True,
) -> None:
    """Say what a field means."""
    _run(ctx, table, "descriptions", {"descriptions": {field: text}}, wait=wait)


@verbs.command()
def dropped(ctx: typer.Context) -> None:
    """Tables that were deleted and that you may restore."""
    with talk(ctx) as to:
        found = to.door.ask("GET", _DROPPED)["items"]
        to.table(found, {"id": "table", "name": "name", "layer": "layer", "dropped_at": "when"}, "No tables.")


@verbs.command()
def restore(
    ctx: typer.Context,
    table: _Table,
    name: Annotated[str | None, typer.Option(help="What it is to be called; else as it was.")] = None,
) -> None:
    """Bring a deleted table back, with its rows and under a new id."""
    with talk(ctx) as to:
        begun = to.door.ask("POST", at(_DROPPED, table) + "/restore", body={"name": name})
        to.done(begun, f"{begun['table']} is being filled by {begun['run']}")


def lineage(
    ctx: typer.Context,
    resource: Annotated[str, typer.Argument(help="A table, a volume or a pipeline, by its id.")],
    depth: Annotated[int, typer.Option(min=1, max=8, help="How many steps away is looked.")] = 8,
) -> None:
    """What something is made from, and what reads it."""
    with talk(ctx) as to:
        found = to.door.ask("GET", at(_LINEAGE, resource), query={"depth": depth})
        rows = [{"way": way, **item} for way in ("up", "down") for item in found[way]["items"]]
        rows += [{"way": way, "name": "more, not visible to you"} for way in ("up", "down") if found[way]["more"]]
        if to.json:
            to.done(found, "")
            return
        columns = {"way": "way", "steps": "steps", "name": "name", "id": "id", "kind": "kind"}
        to.table(rows, columns, "Nothing leads to it, and nothing reads it.")


def _run(ctx: typer.Context, table: str, what: str, body: object, *, wait: bool) -> None:
    with talk(ctx) as to:
        begun = to.door.ask("POST", f"{at(_TABLES, table)}/{what}", body=body)
        tell(to, ended(to, begun) if wait else begun)


def add(app: typer.Typer) -> None:
    """Add the verbs."""
    app.add_typer(verbs, name="table", rich_help_panel="Data")
    app.command(rich_help_panel="Data")(lineage)
