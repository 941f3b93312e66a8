"""Commands of workspaces and their members."""

from __future__ import annotations

from typing import Annotated

import typer

from lakehold.cli.output import open_command
from lakehold.cli.transport import Json, fetch_all, join_path

_WORKSPACES = "/api/v1/workspaces"

commands = typer.Typer(no_args_is_help=True, help="The places that resources lie in, and who is in them.")

_Workspace = Annotated[str, typer.Argument(help="The workspace's id.")]
_Subject = Annotated[str, typer.Argument(help="A member's or group's id.")]


@commands.command("list")
def list_(
    ctx: typer.Context,
    *,
    model: Annotated[str | None, typer.Option(help="Only of this model: lakehouse.")] = None,
    search: Annotated[str, typer.Option(help="A part of the name.")] = "",
) -> None:
    """The workspaces that you may see, by name."""
    with open_command(ctx) as cmd:
        found = fetch_all(cmd.transport, _WORKSPACES, {"model": model, "search": search})
        cmd.print_table(found, {"name": "name", "id": "id", "kind": "kind"}, "No workspaces.")


@commands.command()
def new(
    ctx: typer.Context,
    model: Annotated[str, typer.Argument(help="marts, lakehouse, spaces, products, or one of your own.")],
    name: Annotated[str, typer.Argument(help="What it is called.")],
    *,
    uid: Annotated[str | None, typer.Option("--id", help="Without one it is made.")] = None,
    description: Annotated[str, typer.Option(help="What it is for.")] = "",
) -> None:
    """Make a workspace. You get the role that its model names."""
    body = {"model": model, "name": name, "description": description, **({"id": uid} if uid else {})}
    with open_command(ctx) as cmd:
        result = cmd.transport.request("POST", _WORKSPACES, body=body)
        cmd.print_result(result, result["id"])


@commands.command()
def members(ctx: typer.Context, workspace: _Workspace) -> None:
    """Who is in a workspace, with which roles."""
    with open_command(ctx) as cmd:
        result = cmd.transport.request("GET", join_path(_WORKSPACES, workspace, "members"))["items"]
        rows = result if cmd.json else [_member_row(member) for member in result]
        cmd.print_table(rows, {"subject": "who", "roles": "roles", "attributes": "and"}, "Nobody.")


@commands.command("set")
def set_member(
    ctx: typer.Context,
    workspace: _Workspace,
    subject: _Subject,
    *,
    role: Annotated[list[str] | None, typer.Option(help="All roles that they are to have; several times.")] = None,
    value: Annotated[list[str] | None, typer.Option(help="Of the membership, as name=value: scope=….")] = None,
    until: Annotated[str | None, typer.Option(help="When the roles end.")] = None,
) -> None:
    """Let a member or group have exactly these roles in a workspace."""
    body: Json = {"subject": subject, "attributes": dict(map(_parse_value, value or []))}
    if role is not None:
        body["roles"] = role
    if until is not None:
        body["until"] = until
    with open_command(ctx) as cmd:
        result = cmd.transport.request("PUT", join_path(_WORKSPACES, workspace, "members"), body=body)
        cmd.print_result(result, f"{subject} in {workspace}: {', '.join(role or []) or 'as before'}.")


@commands.command()
def remove(ctx: typer.Context, workspace: _Workspace, subject: _Subject) -> None:
    """Take a member or group out of a workspace."""
    with open_command(ctx) as cmd:
        cmd.transport.request("DELETE", join_path(_WORKSPACES, workspace, "members"), query={"subject": subject})
        cmd.print_result({"removed": subject}, f"{subject} is no longer in {workspace}.")


def _member_row(member: Json) -> Json:
    return {**member, "roles": [role["title"] for role in member["roles"]]}


def _parse_value(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise typer.BadParameter(f"{text!r} is not name=value.", param_hint="--value")
    return name, value


def add(app: typer.Typer) -> None:
    """Register the commands."""
    app.add_typer(commands, name="workspace", rich_help_panel="What there is")
