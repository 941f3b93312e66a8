"""Commands of data: sql, run, runs, stop, resume, logs, table, lineage."""

import json
import secrets
import sys
import time
from enum import StrEnum
from typing import Annotated

import typer

from lakehold.cli.commands.noun import Noun
from lakehold.cli.errors import ExitCode
from lakehold.cli.output import CommandContext, command
from lakehold.cli.transport import Json, fetch_all, join_path, resolve_id
from lakehold.runs.cause import CauseKind, RunCause
from lakehold.workspaces import registry

_QUERIES, _RUNS, _DROPPED = "/api/v1/queries", "/api/v1/runs", "/api/v1/dropped-tables"
_PAUSE = 0.5
tables = Noun("/api/v1/tables", "Tables: optimize, roll back, describe and restore.")


class OutputFormat(StrEnum):
    """The format in which rows are printed."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    ARROW = "arrow"


_STREAMED = {OutputFormat.CSV: "text/csv", OutputFormat.ARROW: "application/vnd.apache.arrow.stream"}
"""The formats that are printed as they come, and their media types."""


@command
def sql(
    cmd: CommandContext,
    workspace: Annotated[str, typer.Argument(help="Workspace for name resolution, by ID or name.")],
    query: Annotated[str, typer.Argument(help="One SELECT; - reads from standard input.")],
    form: Annotated[OutputFormat, typer.Option("--format", help="Output format.")] = OutputFormat.TABLE,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of rows.")] = 1_000,
) -> None:
    """Run a query. Tables that you may not read are treated as missing."""
    text = sys.stdin.read() if query == "-" else query
    uid = f"q_{secrets.token_hex(12)}"
    body = {"workspace": resolve_id(cmd.transport, workspace, registry.sql_kinds()), "sql": text}
    body |= {"limit": limit, "id": uid}
    chosen = OutputFormat.JSON if cmd.json else form
    try:
        parts = cmd.transport.stream(_QUERIES, body=body, accept=_STREAMED.get(chosen, "application/json"))
        if chosen in _STREAMED:
            sys.stdout.buffer.writelines(parts)
            sys.stdout.buffer.flush()
            return
        found = json.loads(b"".join(parts))
    except KeyboardInterrupt:
        # Nobody reads it any more, so nobody need work on it.
        cmd.request("DELETE", _QUERIES, uid)
        raise
    if chosen is OutputFormat.JSON:
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
        return
    headings = {str(number): field["name"] for number, field in enumerate(found["fields"])}
    rows = [{str(number): value for number, value in enumerate(row)} for row in found["rows"]]
    cmd.print_table(rows, headings, "No rows.")
    if not found["complete"]:
        typer.echo("There are more rows; use --limit.", err=True)


RunId = Annotated[str, typer.Argument(help="Run ID.", metavar="RUN")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until the run has ended.")]


@command
def run(
    cmd: CommandContext,
    resource: Annotated[
        str, typer.Argument(help="Pipeline, data mart, report, data task, dataset …, by ID, name or path.")
    ],
    *,
    reload: Annotated[bool, typer.Option("--reload", help="Full refresh: reload all rows.")] = False,
    since: Annotated[str, typer.Option("--from", help="Backfill from this cursor value (inclusive).")] = "",
    until: Annotated[str, typer.Option("--until", help="Backfill until this cursor value (exclusive).")] = "",
    wait: Wait = True,
) -> None:
    """Run a pipeline."""
    span = {"from": since, "until": until} if since or until else None
    uid = resolve_id(cmd.transport, resource, registry.runnable_kinds())
    _start_run(cmd, _RUNS, body={"resource": uid, "reload": reload, "span": span}, wait=wait)


@command
def runs(
    cmd: CommandContext,
    resource: Annotated[str | None, typer.Argument(help="Only runs of this resource, by ID, name or path.")] = None,
    state: Annotated[str | None, typer.Option(help="Only runs in this state.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of results.")] = 20,
) -> None:
    """List runs, newest first."""
    what = resolve_id(cmd.transport, resource, registry.runnable_kinds()) if resource else None
    columns = {"id": "run", "resource": "what", "state": "state", "cause": "trigger", "started_by": "by"}
    columns |= {"made_at": "when", "error": "error"}
    found = fetch_all(cmd.transport, _RUNS, {"resource": what, "state": state}, limit)
    labelled = [{**each, "cause": _cause_label(each)} for each in found]
    cmd.print_table(found if cmd.json else labelled, columns, "No runs.")


def _cause_label(run: Json) -> str:
    cause = RunCause(CauseKind(run["cause_kind"]), run["cause_run"], run["cause_cron"], run["cause_zone"])
    return cause.label(run=cause.run)


@command
def stop(cmd: CommandContext, run: RunId) -> None:
    """Stop a run. Completed writes are kept."""
    result = cmd.request("POST", _RUNS, run, "stop")
    cmd.print_result(result, f"{run} is {result['state']}")


@command
def resume(cmd: CommandContext, run: RunId, *, wait: Wait = True) -> None:
    """Resume a failed or stopped run."""
    _start_run(cmd, _RUNS, run, "resume", wait=wait)


@command
def logs(cmd: CommandContext, run: RunId) -> None:
    """Show the log of a run."""
    cmd.print_list(join_path(_RUNS, run, "log"), {"at": "when", "level": "level", "text": "what"}, "No log.")


def _start_run(cmd: CommandContext, *path: str, body: object = None, wait: bool) -> None:
    """Start a run; wait until it has ended, print it, and exit with code 1 if it failed or was stopped."""
    result = cmd.request("POST", *path, body=body)
    while wait and result["state"] not in {"succeeded", "failed", "stopped"}:
        time.sleep(_PAUSE)
        result = cmd.request("GET", _RUNS, result["id"])
    rows = sum(step["rows"] for step in result["steps"])
    message = f"{result['id']} {result['state']}" + (f", {rows:,} rows" if result["state"] == "succeeded" else "")
    cmd.print_result(result, f"{message}: {result['error']}" if result["error"] else message)
    if result["state"] in {"failed", "stopped"}:
        raise typer.Exit(ExitCode.NO)


_Table = Annotated[str, typer.Argument(help="Table ID.", metavar="TABLE")]


@tables.verb()
def keep(cmd: CommandContext, table: _Table, *, wait: Wait = True) -> None:
    """Compact the files of a table, expire old snapshots, and delete orphan files."""
    _start_run(cmd, tables.path, table, "upkeep", wait=wait)


@tables.verb()
def snapshots(cmd: CommandContext, table: _Table) -> None:
    """List the snapshots of a table, newest first."""
    columns = {"id": "snapshot", "at": "when", "operation": "what", "added": "added", "rows": "rows"}
    cmd.print_table(cmd.request("GET", tables.path, table)["snapshots"], columns, "No data yet.")


@tables.verb()
def rollback(
    cmd: CommandContext,
    table: _Table,
    snapshot: Annotated[str, typer.Argument(help="Snapshot ID.")],
    *,
    wait: Wait = True,
) -> None:
    """Roll a table back to a snapshot."""
    _start_run(cmd, tables.path, table, "rollback", body={"snapshot": snapshot}, wait=wait)


@tables.verb()
def describe(
    cmd: CommandContext,
    table: _Table,
    field: Annotated[str, typer.Argument(help="Field name.")],
    text: Annotated[str, typer.Argument(help="Description.")],
    *,
    wait: Wait = True,
) -> None:
    """Set the description of a field."""
    _start_run(cmd, tables.path, table, "descriptions", body={"descriptions": {field: text}}, wait=wait)


@tables.verb()
def dropped(cmd: CommandContext) -> None:
    """List deleted tables that you may restore."""
    found = cmd.request("GET", _DROPPED)["items"]
    cmd.print_table(found, {"id": "table", "name": "name", "layer": "layer", "dropped_at": "when"}, "No tables.")


@tables.verb()
def restore(
    cmd: CommandContext,
    table: _Table,
    name: Annotated[str | None, typer.Option(help="New name; default: the old name.")] = None,
    layer: Annotated[str | None, typer.Option(help="Another layer; default: the one in which it was.")] = None,
) -> None:
    """Restore a deleted table as it was."""
    found = cmd.request("POST", _DROPPED, table, "restore", body={"name": name, "layer": layer})
    edited = f" Edited meanwhile, and not connected again: {', '.join(found['edited'])}." if found["edited"] else ""
    cmd.print_result(found, f"{found['name']} was restored.{edited}")


@command
def lineage(
    cmd: CommandContext,
    resource: Annotated[str, typer.Argument(help="Table, volume or pipeline ID.")],
    depth: Annotated[int, typer.Option(min=1, max=8, help="Number of steps in each direction.")] = 8,
) -> None:
    """Show upstream and downstream of a resource."""
    found = cmd.request("GET", "/api/v1/lineage", resource, query={"depth": depth})
    rows = [{"way": way, **item} for way in ("up", "down") for item in found[way]["items"]]
    rows += [{"way": way, "name": "more, not visible to you"} for way in ("up", "down") if found[way]["more"]]
    columns = {"way": "way", "steps": "steps", "name": "name", "id": "id", "kind": "kind"}
    cmd.print_table(found if cmd.json else rows, columns, "No lineage.")
