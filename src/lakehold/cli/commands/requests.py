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

commands = typer.Typer(no_args_is_help=True, help="Access requests.")

_Request = Annotated[str, typer.Argument(help="Request ID.")]


@commands.command("list")
def list_(
    ctx: typer.Context,
    *,
    waiting: Annotated[bool, typer.Option("--waiting", help="Requests that you can approve, not your own.")] = False,
) -> None:
    """List requests, newest first: your own, or those that you can approve."""
    with open_command(ctx) as cmd:
        found = fetch_all(cmd.transport, f"{_REQUESTS}/waiting" if waiting else _REQUESTS)
        cmd.print_table(found, _COLUMNS, "No requests.")


@commands.command()
def new(
    ctx: typer.Context,
    action: Annotated[str, typer.Argument(help="Action.")],
    resource: Annotated[str, typer.Argument(help="Resource ID.")],
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
    until: Annotated[str | None, typer.Option(help="Expiration: 2031-05-04T10:30:00Z.")] = None,
    answer: Annotated[str, typer.Option(help="Message.")] = "",
) -> None:
    """Approve a request."""
    body = {"answer": answer, **({"until": until} if until else {})}
    with open_command(ctx) as cmd:
        result = cmd.transport.request("POST", join_path(_REQUESTS, request, "approve"), body=body)
        cmd.print_result(result, result["state"])


@commands.command()
def refuse(ctx: typer.Context, request: _Request, answer: Annotated[str, typer.Argument(help="Reason.")]) -> None:
    """Deny a request."""
    with open_command(ctx) as cmd:
        result = cmd.transport.request("POST", join_path(_REQUESTS, request, "refuse"), body={"answer": answer})
        cmd.print_result(result, result["state"])


@commands.command()
def withdraw(ctx: typer.Context, request: _Request) -> None:
    """Withdraw your own request."""
    with open_command(ctx) as cmd:
        result = cmd.transport.request("POST", join_path(_REQUESTS, request, "withdraw"))
        cmd.print_result(result, result["state"])
