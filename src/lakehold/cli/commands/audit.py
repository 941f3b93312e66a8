"""Commands of the audit log: list, export, verify."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from lakehold.cli.errors import ExitCode
from lakehold.cli.output import open_command
from lakehold.cli.transport import fetch_all

_AUDIT = "/api/v1/access/audit"
_COLUMNS = {
    "n": "n", "at": "when", "member_name": "who", "action": "did", "resource_name": "what", "outcome": "outcome",
    "reason": "reason",
}  # fmt: skip

commands = typer.Typer(no_args_is_help=True, help="The audit log: changes, sign-ins and denied attempts.")

_Member = Annotated[str | None, typer.Option(help="Only entries of this member.")]
_Resource = Annotated[str | None, typer.Option(help="Only entries of this resource.")]
_Action = Annotated[str | None, typer.Option(help="Only this action.")]
_Outcome = Annotated[str | None, typer.Option(help="done or denied.")]
_Since = Annotated[str | None, typer.Option(help="From this time: 2031-05-04T10:30:00Z.")]
_Until = Annotated[str | None, typer.Option(help="Before this time.")]


@commands.command("list")
def list_(
    ctx: typer.Context,
    *,
    member: _Member = None,
    resource: _Resource = None,
    action: _Action = None,
    outcome: _Outcome = None,
    since: _Since = None,
    until: _Until = None,
    limit: Annotated[int, typer.Option(min=0, help="Maximum number of results; 0 for all.")] = 50,
) -> None:
    """List entries, newest first."""
    filters = _filters(member, resource, action, outcome, since, until)
    with open_command(ctx) as cmd:
        cmd.print_table(fetch_all(cmd.transport, _AUDIT, filters, limit), _COLUMNS, "Nothing.")


@commands.command()
def export(
    ctx: typer.Context,
    file: Annotated[Path | None, typer.Argument(help="Output file; default: standard output.")] = None,
    *,
    member: _Member = None,
    resource: _Resource = None,
    action: _Action = None,
    outcome: _Outcome = None,
    since: _Since = None,
    until: _Until = None,
) -> None:
    """Export all entries as JSON Lines, oldest first, with number and hash."""
    filters = _filters(member, resource, action, outcome, since, until)
    with open_command(ctx) as cmd:
        parts = cmd.transport.stream(f"{_AUDIT}/export", filters)
        if file is None:
            for part in parts:
                sys.stdout.buffer.write(part)
            return
        lines = 0
        with file.open("wb") as out:
            for part in parts:
                out.write(part)
                lines += part.count(b"\n")
        cmd.print_result({"file": str(file), "entries": lines}, f"{lines:,} entries in {file}")


@commands.command()
def verify(ctx: typer.Context) -> None:
    """Verify the hash chain. Exit code 1 if an entry was altered, removed, reordered or truncated."""
    with open_command(ctx) as cmd:
        result = cmd.transport.request("GET", f"{_AUDIT}/verify")
        cmd.print_result(
            result, f"whole: {result['entries']:,} entries" if result["whole"] else f"broken: {result['fault']}"
        )
    if not result["whole"]:
        raise typer.Exit(ExitCode.NO)


def _filters(*values: str | None) -> dict[str, object]:
    return dict(zip(("member", "resource", "action", "outcome", "since", "until"), values, strict=True))
