"""Commands of API tokens."""

from __future__ import annotations

from typing import Annotated

import typer

from lakehold.cli.output import open_command
from lakehold.cli.transport import fetch_all, join_path

_TOKENS = "/api/v1/tokens"
_COLUMNS = {"id": "id", "name": "name", "member": "member", "until": "until", "used_at": "last used"}

commands = typer.Typer(no_args_is_help=True, help="API tokens, for scripts and other programs.")


@commands.command()
def new(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Name.")],
    *,
    member: Annotated[str | None, typer.Option(help="For this service account.")] = None,
    days: Annotated[int, typer.Option(min=0, help="Days until it expires; 0 for never.")] = 90,
    action: Annotated[list[str] | None, typer.Option(help="Limit to this action; repeatable.")] = None,
    resource: Annotated[list[str] | None, typer.Option(help="Limit to this resource; repeatable.")] = None,
) -> None:
    """Create a token. It is shown once."""
    fields = {"name": name, "days": days or None, "member": member, "actions": action, "resources": resource}
    with open_command(ctx) as cmd:
        body = {field: value for field, value in fields.items() if value or field == "days"}
        result = cmd.transport.request("POST", _TOKENS, body=body)
        cmd.print_result(result, result["secret"])


@commands.command("list")
def list_(
    ctx: typer.Context,
    *,
    member: Annotated[str | None, typer.Option(help="Tokens of this member; default: your own.")] = None,
    everybody: Annotated[bool, typer.Option("--all", help="Tokens of all members.")] = False,
) -> None:
    """List tokens, newest first."""
    with open_command(ctx) as cmd:
        found = (
            fetch_all(cmd.transport, f"{_TOKENS}/all")
            if everybody
            else fetch_all(cmd.transport, _TOKENS, {"member": member})
        )
        cmd.print_table(found, _COLUMNS, "No tokens.")


@commands.command()
def revoke(ctx: typer.Context, token: Annotated[str, typer.Argument(help="Token ID.")]) -> None:
    """Revoke a token."""
    with open_command(ctx) as cmd:
        cmd.transport.request("DELETE", join_path(_TOKENS, token))
        cmd.print_result({"revoked": token}, f"Token {token} was revoked.")
