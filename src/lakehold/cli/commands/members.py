"""Commands of members and service accounts."""

from __future__ import annotations

from typing import Annotated

import typer

from lakehold.cli.output import open_command
from lakehold.cli.transport import IF_MATCH_ANY, Json, fetch_all, join_path

_MEMBERS = "/api/v1/members"
_COLUMNS = {"name": "name", "id": "id", "email": "e-mail", "roles": "roles", "groups": "groups"}

commands = typer.Typer(no_args_is_help=True, help="People and service accounts.")

_Member = Annotated[str, typer.Argument(help="The member's id.")]


@commands.command("list")
def list_(ctx: typer.Context, search: Annotated[str, typer.Option(help="A part of the name.")] = "") -> None:
    """All members, by name."""
    with open_command(ctx) as cmd:
        cmd.print_table(fetch_all(cmd.transport, _MEMBERS, {"search": search}), _COLUMNS, "No members.")


@commands.command()
def show(ctx: typer.Context, member: _Member) -> None:
    """One member."""
    with open_command(ctx) as cmd:
        result = cmd.transport.request("GET", join_path(_MEMBERS, member))
        cmd.print_fields(result)


@commands.command("add")
def add_member(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What they are called.")],
    *,
    email: Annotated[str | None, typer.Option(help="With which they sign in.")] = None,
    uid: Annotated[str | None, typer.Option("--id", help="Without one it is made.")] = None,
    service: Annotated[bool, typer.Option("--service", help="A service account: nobody signs in.")] = False,
) -> None:
    """Add a member without an invite, or a service account."""
    where = "/api/v1/service-accounts" if service else _MEMBERS
    fields = {"name": name, "email": None if service else email, "id": uid}
    with open_command(ctx) as cmd:
        result = cmd.transport.request("POST", where, body={field: value for field, value in fields.items() if value})
        cmd.print_result(result, result["id"])


@commands.command()
def rename(ctx: typer.Context, member: _Member, name: Annotated[str, typer.Argument(help="The new name.")]) -> None:
    """Call a member by another name."""
    with open_command(ctx) as cmd:
        result = cmd.transport.request("PATCH", join_path(_MEMBERS, member), body={"name": name}, headers=IF_MATCH_ANY)
        cmd.print_result(result, f"{result['id']} is {result['name']} now.")


@commands.command()
def roles(
    ctx: typer.Context,
    member: _Member,
    role: Annotated[list[str] | None, typer.Argument(help="All of them; none takes all away.")] = None,
) -> None:
    """Let these be the tenant and security roles of a member."""
    with open_command(ctx) as cmd:
        result = cmd.transport.request(
            "PUT", join_path(_MEMBERS, member, "roles"), body={"roles": role or []}, headers=IF_MATCH_ANY
        )
        cmd.print_result(result, f"{result['name']}: {', '.join(result['roles']) or 'no roles'}")


@commands.command()
def link(
    ctx: typer.Context,
    member: _Member,
    *,
    password: Annotated[bool, typer.Option("--password", help="To set a password, not only to sign in.")] = False,
    mail: Annotated[bool, typer.Option("--mail", help="Mail it instead of showing it.")] = False,
) -> None:
    """Make a link with which a member signs in, or sets a password."""
    body = {"purpose": "password" if password else "sign_in", "mail": mail}
    with open_command(ctx) as cmd:
        result = cmd.transport.request("POST", join_path(_MEMBERS, member, "links"), body=body)
        cmd.print_result(result, result["link"] or "The link was mailed.")


@commands.command()
def remove(
    ctx: typer.Context,
    member: _Member,
    *,
    receiver: Annotated[str | None, typer.Option("--to", help="Who gets what they own; else it is left.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Remove a member. What they own is handed over, or left without an owner; nothing is deleted."""
    with open_command(ctx) as cmd:
        if not yes and not cmd.json:
            _confirm_removal(cmd.transport.request("GET", join_path(_MEMBERS, member, "removal")), receiver)
        result = cmd.transport.request("DELETE", join_path(_MEMBERS, member), query={"receiver": receiver})
        left = f" {len(result['left'])} things are left without an owner." if result["left"] else ""
        cmd.print_result(result, f"{result['name']} is removed. {len(result['moved'])} things were handed over.{left}")


def _confirm_removal(result: Json, receiver: str | None) -> None:
    for owned in result["owns"]:
        typer.echo(f"  {owned['role']} of {owned['name']} ({owned['kind']})")
    fate = f"goes to {receiver}" if receiver else "is left without an owner"
    typer.confirm(f"Remove {result['name']}? What they own ({len(result['owns'])}) {fate}.", abort=True)


def add(app: typer.Typer) -> None:
    """Register the commands."""
    app.add_typer(commands, name="member", rich_help_panel="People")
