"""Commands of groups."""

from __future__ import annotations

from typing import Annotated

import typer

from lakehold.cli.output import open_command
from lakehold.cli.transport import IF_MATCH_ANY, Json, fetch_all, join_path

_GROUPS = "/api/v1/groups"

commands = typer.Typer(no_args_is_help=True, help="Members who are given roles together.")

_Group = Annotated[str, typer.Argument(help="The group's id.")]
_Member = Annotated[str, typer.Argument(help="The member's id.")]


@commands.command("list")
def list_(ctx: typer.Context, search: Annotated[str, typer.Option(help="A part of the name.")] = "") -> None:
    """All groups, by name."""
    with open_command(ctx) as cmd:
        cmd.print_table(
            fetch_all(cmd.transport, _GROUPS, {"search": search}), {"name": "name", "id": "id"}, "No groups."
        )


@commands.command()
def show(ctx: typer.Context, group: _Group) -> None:
    """A group with its members and roles."""
    with open_command(ctx) as cmd:
        cmd.print_fields(cmd.transport.request("GET", join_path(_GROUPS, group)))


@commands.command()
def new(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What it is called.")],
    uid: Annotated[str | None, typer.Option("--id", help="Without one it is made.")] = None,
) -> None:
    """Make a group, with nobody in it."""
    with open_command(ctx) as cmd:
        result = cmd.transport.request("POST", _GROUPS, body={"name": name, **({"id": uid} if uid else {})})
        cmd.print_result(result, result["id"])


@commands.command()
def rename(ctx: typer.Context, group: _Group, name: Annotated[str, typer.Argument(help="The new name.")]) -> None:
    """Call a group by another name."""
    with open_command(ctx) as cmd:
        result = cmd.transport.request("PATCH", join_path(_GROUPS, group), body={"name": name}, headers=IF_MATCH_ANY)
        cmd.print_result(result, f"{result['id']} is {result['name']} now.")


@commands.command("add")
def add_member(ctx: typer.Context, group: _Group, member: _Member) -> None:
    """Take a member in."""
    with open_command(ctx) as cmd:
        result = cmd.transport.request("PUT", join_path(_GROUPS, group, "members", member))
        cmd.print_result(result, _member_count_text(result))


@commands.command("remove")
def remove_member(ctx: typer.Context, group: _Group, member: _Member) -> None:
    """Let a member go."""
    with open_command(ctx) as cmd:
        result = cmd.transport.request("DELETE", join_path(_GROUPS, group, "members", member))
        cmd.print_result(result, _member_count_text(result))


@commands.command()
def roles(
    ctx: typer.Context,
    group: _Group,
    role: Annotated[list[str] | None, typer.Argument(help="All of them; none takes all away.")] = None,
) -> None:
    """Let these be the tenant and security roles of a group."""
    with open_command(ctx) as cmd:
        result = cmd.transport.request(
            "PUT", join_path(_GROUPS, group, "roles"), body={"roles": role or []}, headers=IF_MATCH_ANY
        )
        cmd.print_result(result, f"{result['name']}: {', '.join(result['roles']) or 'no roles'}")


@commands.command()
def delete(ctx: typer.Context, group: _Group) -> None:
    """End a group. Its members lose what they had by it, and nothing else."""
    with open_command(ctx) as cmd:
        cmd.transport.request("DELETE", join_path(_GROUPS, group))
        cmd.print_result({"deleted": group}, f"The group {group} is gone.")


def _member_count_text(group: Json) -> str:
    count = len(group["member_ids"])
    return f"{group['name']} has {count} {'member' if count == 1 else 'members'}."


def add(app: typer.Typer) -> None:
    """Register the commands."""
    app.add_typer(commands, name="group", rich_help_panel="People")
