"""Commands of access requests."""

from __future__ import annotations

from typing import Annotated

import typer

from lakehold.cli.output import open_command
from lakehold.cli.transport import fetch_all, join_path

_REQUESTS = "/api/v1/requests"
_COLUMNS = {
    "id": "id", "asker": "who", "action": "wants to", "asked_for": "what", "reason": "why", "state": "state",
    "answer": "answer",
}  # fmt: skip

commands = typer.Typer(no_args_is_help=True, help="Asking for access, and answering.")

_Request = Annotated[str, typer.Argument(help="The request's id.")]


@commands.command("list")
def list_(
    ctx: typer.Context,
    *,
    waiting: Annotated[bool, typer.Option("--waiting", help="Those that you can answer, not your own.")] = False,
) -> None:
    """Requests, the newest first: your own, or those that wait for you."""
    with open_command(ctx) as cmd:
        found = fetch_all(cmd.transport, f"{_REQUESTS}/waiting" if waiting else _REQUESTS)
        cmd.print_table(found, _COLUMNS, "No requests.")


@commands.command()
def new(
    ctx: typer.Context,
    action: Annotated[str, typer.Argument(help="What you want to do.")],
    resource: Annotated[str, typer.Argument(help="With what.")],
    *,
    reason: Annotated[str, typer.Option(help="Why.")] = "",
) -> None:
    """Request access. Those who can grant it are notified."""
    with open_command(ctx) as cmd:
        result = cmd.transport.request(
            "POST", _REQUESTS, body={"action": action, "resource": resource, "reason": reason}
        )
        cmd.print_result(result, result["id"])


@commands.command()
def approve(
    ctx: typer.Context,
    request: _Request,
    *,
    until: Annotated[str | None, typer.Option(help="Only for a time: 2031-05-04T10:30:00Z.")] = None,
    answer: Annotated[str, typer.Option(help="A few words.")] = "",
) -> None:
    """Give what was asked for, with your own right."""
    body = {"answer": answer, **({"until": until} if until else {})}
    with open_command(ctx) as cmd:
        result = cmd.transport.request("POST", join_path(_REQUESTS, request, "approve"), body=body)
        cmd.print_result(result, result["state"])


@commands.command()
def refuse(ctx: typer.Context, request: _Request, answer: Annotated[str, typer.Argument(help="Why not.")]) -> None:
    """Say no, and why."""
    with open_command(ctx) as cmd:
        result = cmd.transport.request("POST", join_path(_REQUESTS, request, "refuse"), body={"answer": answer})
        cmd.print_result(result, result["state"])


@commands.command()
def withdraw(ctx: typer.Context, request: _Request) -> None:
    """Take your own request back."""
    with open_command(ctx) as cmd:
        result = cmd.transport.request("POST", join_path(_REQUESTS, request, "withdraw"))
        cmd.print_result(result, result["state"])


def add(app: typer.Typer) -> None:
    """Register the commands."""
    app.add_typer(commands, name="request", rich_help_panel="What there is")
