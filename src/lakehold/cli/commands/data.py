"""Commands of data: sql, run, runs, stop, resume, logs, table, lineage."""

from __future__ import annotations

import json
import secrets
import sys
from enum import StrEnum
from typing import Annotated

import typer

from lakehold.cli.errors import ExitCode
from lakehold.cli.output import CommandContext, open_command, print_json
from lakehold.cli.transport import Json, fetch_all, join_path, resolve_id
from lakehold.workspaces import registry

_QUERIES = "/api/v1/queries"


class OutputFormat(StrEnum):
    """The format in which rows are printed."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    ARROW = "arrow"


_ACCEPT = {
    OutputFormat.TABLE: "application/json",
    OutputFormat.JSON: "application/json",
    OutputFormat.CSV: "text/csv",
    OutputFormat.ARROW: "application/vnd.apache.arrow.stream",
}


def sql(
    ctx: typer.Context,
    workspace: Annotated[str, typer.Argument(help="Lakehouse for name resolution, by ID or name.")],
    query: Annotated[str, typer.Argument(help="One SELECT; - reads from standard input.")],
    form: Annotated[OutputFormat, typer.Option("--format", help="Output format.")] = OutputFormat.TABLE,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of rows.")] = 1_000,
) -> None:
    """Run a query. Tables that you may not read are treated as missing."""
    text = sys.stdin.read() if query == "-" else query
    uid = f"q_{secrets.token_hex(12)}"
    with open_command(ctx) as cmd:
        body = {
            "workspace": resolve_id(cmd.transport, workspace, registry.sql_kinds()),
            "sql": text,
            "limit": limit,
            "id": uid,
        }
        chosen = OutputFormat.JSON if cmd.json else form
        try:
            parts = cmd.transport.stream(_QUERIES, body=body, accept=_ACCEPT[chosen])
            if chosen in {OutputFormat.CSV, OutputFormat.ARROW}:
                for part in parts:
                    sys.stdout.buffer.write(part)
                sys.stdout.buffer.flush()
                return
            found = json.loads(b"".join(parts))
        except KeyboardInterrupt:
            # Nobody reads it any more, so nobody need work on it.
            cmd.transport.request("DELETE", join_path(_QUERIES, uid))
            raise
        if chosen is OutputFormat.JSON:
            print_json(found)
        else:
            _print_rows(cmd, found)


def _print_rows(cmd: CommandContext, found: Json) -> None:
    headings = {str(number): field["name"] for number, field in enumerate(found["fields"])}
    rows = [{str(number): value for number, value in enumerate(row)} for row in found["rows"]]
    cmd.print_table(rows, headings, "No rows.")
    if not found["complete"]:
        typer.echo("There are more rows; use --limit.", err=True)


_RUNS = "/api/v1/runs"
_PAUSE = 0.5
_FINAL_STATES = {"succeeded", "failed", "stopped"}
_COLUMNS = {
    "id": "run",
    "resource": "what",
    "state": "state",
    "cause": "why",
    "started_by": "by",
    "made_at": "when",
    "error": "error",
}

RunId = Annotated[str, typer.Argument(help="Run ID.", metavar="RUN")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until the run has ended.")]


def run(
    ctx: typer.Context,
    resource: Annotated[str, typer.Argument(help="Source, query, history or destination, by ID or name.")],
    *,
    reload: Annotated[bool, typer.Option("--reload", help="Full refresh: reload all rows.")] = False,
    since: Annotated[str, typer.Option("--from", help="Backfill from this cursor value (inclusive).")] = "",
    until: Annotated[str, typer.Option("--until", help="Backfill until this cursor value (exclusive).")] = "",
    wait: Wait = True,
) -> None:
    """Run a pipeline."""
    span = {"from": since, "until": until} if since or until else None
    with open_command(ctx) as cmd:
        body = {
            "resource": resolve_id(cmd.transport, resource, registry.runnable_kinds()),
            "reload": reload,
            "span": span,
        }
        begun = cmd.transport.request("POST", _RUNS, body=body)
        print_run(cmd, wait_until_ended(cmd, begun) if wait else begun)


def runs(
    ctx: typer.Context,
    resource: Annotated[str | None, typer.Argument(help="Only runs of this resource, by ID or name.")] = None,
    state: Annotated[str | None, typer.Option(help="Only runs in this state.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of results.")] = 20,
) -> None:
    """List runs, newest first."""
    with open_command(ctx) as cmd:
        what = resolve_id(cmd.transport, resource, registry.runnable_kinds()) if resource else None
        found = fetch_all(cmd.transport, _RUNS, {"resource": what, "state": state}, limit)
        cmd.print_table(found, _COLUMNS, "No runs.")


def stop(ctx: typer.Context, run: RunId) -> None:
    """Stop a run. Completed writes are kept."""
    with open_command(ctx) as cmd:
        result = cmd.transport.request("POST", join_path(_RUNS, run) + "/stop")
        cmd.print_result(result, f"{run} is {result['state']}")


def resume(ctx: typer.Context, run: RunId, *, wait: Wait = True) -> None:
    """Resume a failed or stopped run."""
    with open_command(ctx) as cmd:
        begun = cmd.transport.request("POST", join_path(_RUNS, run) + "/resume")
        print_run(cmd, wait_until_ended(cmd, begun) if wait else begun)


def logs(ctx: typer.Context, run: RunId) -> None:
    """Show the log of a run."""
    with open_command(ctx) as cmd:
        lines = fetch_all(cmd.transport, join_path(_RUNS, run) + "/log")
        cmd.print_table(lines, {"at": "when", "level": "level", "text": "what"}, "No log.")


def wait_until_ended(cmd: CommandContext, found: Json) -> Json:
    """Poll a run until it has ended, and return it."""
    from threading import Event  # noqa: PLC0415 - loaded by these verbs only

    while found["state"] not in _FINAL_STATES:
        Event().wait(_PAUSE)
        found = cmd.transport.request("GET", join_path(_RUNS, found["id"]))
    return found


def print_run(cmd: CommandContext, result: Json) -> None:
    """Print the result of a run, and exit with code 1 if it failed or was stopped."""
    rows = sum(step["rows"] for step in result["steps"])
    message = f"{result['id']} {result['state']}" + (f", {rows:,} rows" if result["state"] == "succeeded" else "")
    cmd.print_result(result, f"{message}: {result['error']}" if result["error"] else message)
    if result["state"] in {"failed", "stopped"}:
        raise typer.Exit(ExitCode.NO)


table_commands = typer.Typer(help="Tables: optimize, roll back, describe and restore.", no_args_is_help=True)

_TABLES, _DROPPED, _LINEAGE = "/api/v1/tables", "/api/v1/dropped-tables", "/api/v1/lineage"
_Table = Annotated[str, typer.Argument(help="Table ID.", metavar="TABLE")]


@table_commands.command()
def keep(ctx: typer.Context, table: _Table, *, wait: Wait = True) -> None:
    """Compact the files of a table, expire old snapshots, and delete orphan files."""
    _start_table_run(ctx, table, "upkeep", None, wait=wait)


@table_commands.command()
def snapshots(ctx: typer.Context, table: _Table) -> None:
    """List the snapshots of a table, newest first."""
    with open_command(ctx) as cmd:
        found = cmd.transport.request("GET", join_path(_TABLES, table))["snapshots"]
        columns = {"id": "snapshot", "at": "when", "operation": "what", "added": "added", "rows": "rows"}
        cmd.print_table(found, columns, "No data yet.")


@table_commands.command()
def rollback(
    ctx: typer.Context,
    table: _Table,
    snapshot: Annotated[str, typer.Argument(help="Snapshot ID.")],
    *,
    wait: Wait = True,
) -> None:
    """Roll a table back to a snapshot."""
    _start_table_run(ctx, table, "rollback", {"snapshot": snapshot}, wait=wait)


@table_commands.command()
def describe(
    ctx: typer.Context,
    table: _Table,
    field: Annotated[str, typer.Argument(help="Field name.")],
    text: Annotated[str, typer.Argument(help="Description.")],
    *,
    wait: Wait = True,
) -> None:
    """Set the description of a field."""
    _start_table_run(ctx, table, "descriptions", {"descriptions": {field: text}}, wait=wait)


@table_commands.command()
def dropped(ctx: typer.Context) -> None:
    """List deleted tables that you may restore."""
    with open_command(ctx) as cmd:
        found = cmd.transport.request("GET", _DROPPED)["items"]
        cmd.print_table(found, {"id": "table", "name": "name", "layer": "layer", "dropped_at": "when"}, "No tables.")


@table_commands.command()
def restore(
    ctx: typer.Context,
    table: _Table,
    name: Annotated[str | None, typer.Option(help="New name; default: the old name.")] = None,
) -> None:
    """Restore a deleted table with its rows, under a new ID."""
    with open_command(ctx) as cmd:
        begun = cmd.transport.request("POST", join_path(_DROPPED, table) + "/restore", body={"name": name})
        cmd.print_result(begun, f"{begun['table']} is being restored by run {begun['run']}")


def lineage(
    ctx: typer.Context,
    resource: Annotated[str, typer.Argument(help="Table, volume or pipeline ID.")],
    depth: Annotated[int, typer.Option(min=1, max=8, help="Number of steps in each direction.")] = 8,
) -> None:
    """Show upstream and downstream of a resource."""
    with open_command(ctx) as cmd:
        found = cmd.transport.request("GET", join_path(_LINEAGE, resource), query={"depth": depth})
        rows = [{"way": way, **item} for way in ("up", "down") for item in found[way]["items"]]
        rows += [{"way": way, "name": "more, not visible to you"} for way in ("up", "down") if found[way]["more"]]
        if cmd.json:
            cmd.print_result(found, "")
            return
        columns = {"way": "way", "steps": "steps", "name": "name", "id": "id", "kind": "kind"}
        cmd.print_table(rows, columns, "No lineage.")


def _start_table_run(ctx: typer.Context, table: str, what: str, body: object, *, wait: bool) -> None:
    with open_command(ctx) as cmd:
        begun = cmd.transport.request("POST", f"{join_path(_TABLES, table)}/{what}", body=body)
        print_run(cmd, wait_until_ended(cmd, begun) if wait else begun)
