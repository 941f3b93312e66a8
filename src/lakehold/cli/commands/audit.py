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

commands = typer.Typer(no_args_is_help=True, help="What happened: every change, sign-in and denied attempt.")

_Member = Annotated[str | None, typer.Option(help="Only what this member did.")]
_Resource = Annotated[str | None, typer.Option(help="Only what was done to this resource.")]
_Action = Annotated[str | None, typer.Option(help="Only this action.")]
_Outcome = Annotated[str | None, typer.Option(help="done or denied.")]
_Since = Annotated[str | None, typer.Option(help="From this moment on: 2031-05-04T10:30:00Z.")]
_Until = Annotated[str | None, typer.Option(help="Before this moment.")]


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
    limit: Annotated[int, typer.Option(min=0, help="How many at the most; 0 for all.")] = 50,
) -> None:
    """The newest entries first."""
    filters = _filters(member, resource, action, outcome, since, until)
    with open_command(ctx) as cmd:
        cmd.print_table(fetch_all(cmd.transport, _AUDIT, filters, limit), _COLUMNS, "Nothing.")


@commands.command()
def export(
    ctx: typer.Context,
    file: Annotated[Path | None, typer.Argument(help="Where it goes; without one to the terminal.")] = None,
    *,
    member: _Member = None,
    resource: _Resource = None,
    action: _Action = None,
    outcome: _Outcome = None,
    since: _Since = None,
    until: _Until = None,
) -> None:
    """All entries as JSON lines, the oldest first, each with its number and hash."""
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
    """Walk the whole chain: was anything altered, removed, reordered or cut off? Exit code 1 if so."""
    with open_command(ctx) as cmd:
        result = cmd.transport.request("GET", f"{_AUDIT}/verify")
        cmd.print_result(
            result, f"whole: {result['entries']:,} entries" if result["whole"] else f"broken: {result['fault']}"
        )
    if not result["whole"]:
        raise typer.Exit(ExitCode.NO)


def _filters(*values: str | None) -> dict[str, object]:
    return dict(zip(("member", "resource", "action", "outcome", "since", "until"), values, strict=True))


def add(app: typer.Typer) -> None:
    """Register the commands."""
    app.add_typer(commands, name="audit", rich_help_panel="Asking")
