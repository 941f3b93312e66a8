"""audit: what happened, and whether the log of it is whole."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from lakehold.cli.door import pages
from lakehold.cli.exits import Exit
from lakehold.cli.talk import talk

_AUDIT = "/api/v1/access/audit"
_COLUMNS = {
    "n": "n", "at": "when", "member_name": "who", "action": "did", "resource_name": "what", "outcome": "outcome",
    "reason": "reason",
}  # fmt: skip

verbs = typer.Typer(no_args_is_help=True, help="What happened: every change, sign-in and denied attempt.")

_Member = Annotated[str | None, typer.Option(help="Only what this member did.")]
_Resource = Annotated[str | None, typer.Option(help="Only what was done to this resource.")]
_Action = Annotated[str | None, typer.Option(help="Only this action.")]
_Outcome = Annotated[str | None, typer.Option(help="done or denied.")]
_Since = Annotated[str | None, typer.Option(help="From this moment on: 2031-05-04T10:30:00Z.")]
_Until = Annotated[str | None, typer.Option(help="Before this moment.")]


@verbs.command("list")
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
    wanted = _wanted(member, resource, action, outcome, since, until)
    with talk(ctx) as to:
        to.table(pages(to.door, _AUDIT, wanted, limit), _COLUMNS, "Nothing.")


@verbs.command()
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
    wanted = _wanted(member, resource, action, outcome, since, until)
    with talk(ctx) as to:
        parts = to.door.fetch(f"{_AUDIT}/export", wanted)
        if file is None:
            for part in parts:
                sys.stdout.buffer.write(part)
            return
        lines = 0
        with file.open("wb") as out:
            for part in parts:
                out.write(part)
                lines += part.count(b"\n")
        to.done({"file": str(file), "entries": lines}, f"{lines:,} entries in {file}")


@verbs.command()
def verify(ctx: typer.Context) -> None:
    """Walk the whole chain: was anything altered, removed, reordered or cut off? Exit code 1 if so."""
    with talk(ctx) as to:
        told = to.door.ask("GET", f"{_AUDIT}/verify")
        to.done(told, f"whole: {told['entries']:,} entries" if told["whole"] else f"broken: {told['fault']}")
    if not told["whole"]:
        raise typer.Exit(Exit.NO)


def _wanted(*values: str | None) -> dict[str, object]:
    return dict(zip(("member", "resource", "action", "outcome", "since", "until"), values, strict=True))


def add(app: typer.Typer) -> None:
    """Add the verbs."""
    app.add_typer(verbs, name="audit", rich_help_panel="Asking")
