"""Commands of invites."""

from __future__ import annotations

from typing import Annotated

import typer

from lakehold.cli.output import open_command
from lakehold.cli.transport import fetch_all, join_path

_INVITES = "/api/v1/invites"
_COLUMNS = {"id": "id", "email": "e-mail", "roles": "roles", "made_by": "by", "until": "until"}

commands = typer.Typer(no_args_is_help=True, help="Invites for new members.")

_Invite = Annotated[str, typer.Argument(help="Invite ID.")]
_Mail = Annotated[bool, typer.Option("--mail", help="Mail the link instead of showing it.")]


@commands.command("list")
def list_(ctx: typer.Context) -> None:
    """List pending invites, newest first."""
    with open_command(ctx) as cmd:
        found = fetch_all(cmd.transport, _INVITES)
        rows = (
            found
            if cmd.json
            else [{**each, "roles": [f"{role['role']}@{role['resource']}" for role in each["roles"]]} for each in found]
        )
        cmd.print_table(rows, _COLUMNS, "No invites.")


@commands.command()
def new(
    ctx: typer.Context,
    email: Annotated[str, typer.Argument(help="E-mail address.")],
    *,
    role: Annotated[list[str] | None, typer.Option(help="role@resource; repeatable.")] = None,
    mail: _Mail = False,
) -> None:
    """Create an invite link, with roles granted on acceptance."""
    roles = [{"role": name, "resource": there} for name, there in map(_parse_role, role or [])]
    with open_command(ctx) as cmd:
        result = cmd.transport.request("POST", _INVITES, body={"email": email, "roles": roles, "mail": mail})
        cmd.print_result(result, result["link"] or "The link was mailed.")


@commands.command()
def again(ctx: typer.Context, invite: _Invite, *, mail: _Mail = False) -> None:
    """Replace the link by a new one."""
    with open_command(ctx) as cmd:
        result = cmd.transport.request("POST", join_path(_INVITES, invite, "again"), body={"mail": mail})
        cmd.print_result(result, result["link"] or "The link was mailed.")


@commands.command()
def revoke(ctx: typer.Context, invite: _Invite) -> None:
    """Revoke an invite."""
    with open_command(ctx) as cmd:
        cmd.transport.request("DELETE", join_path(_INVITES, invite))
        cmd.print_result({"revoked": invite}, f"Invite {invite} was revoked.")


def _parse_role(text: str) -> tuple[str, str]:
    role, sign, resource = text.partition("@")
    if not sign or not role or not resource:
        raise typer.BadParameter(f"{text!r} is not role@resource.", param_hint="--role")
    return role, resource
