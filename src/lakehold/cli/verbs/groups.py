"""group: members who are given roles together."""

from __future__ import annotations

from typing import Annotated

import typer

from lakehold.cli.door import ANY, Json, at, pages
from lakehold.cli.talk import talk

_GROUPS = "/api/v1/groups"

verbs = typer.Typer(no_args_is_help=True, help="Members who are given roles together.")

_Group = Annotated[str, typer.Argument(help="The group's id.")]
_Member = Annotated[str, typer.Argument(help="The member's id.")]


@verbs.command("list")
def list_(ctx: typer.Context, search: Annotated[str, typer.Option(help="A part of the name.")] = "") -> None:
    """All groups, by name."""
    with talk(ctx) as to:
        to.table(pages(to.door, _GROUPS, {"search": search}), {"name": "name", "id": "id"}, "No groups.")


@verbs.command()
def show(ctx: typer.Context, group: _Group) -> None:
    """A group with its members and roles."""
    with talk(ctx) as to:
        to.fields(to.door.ask("GET", at(_GROUPS, group)))


@verbs.command()
def new(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What it is called.")],
    uid: Annotated[str | None, typer.Option("--id", help="Without one it is made.")] = None,
) -> None:
    """Make a group, with nobody in it."""
    with talk(ctx) as to:
        told = to.door.ask("POST", _GROUPS, body={"name": name, **({"id": uid} if uid else {})})
        to.done(told, told["id"])


@verbs.command()
def rename(ctx: typer.Context, group: _Group, name: Annotated[str, typer.Argument(help="The new name.")]) -> None:
    """Call a group by another name."""
    with talk(ctx) as to:
        told = to.door.ask("PATCH", at(_GROUPS, group), body={"name": name}, headers=ANY)
        to.done(told, f"{told['id']} is {told['name']} now.")


@verbs.command("add")
def add_member(ctx: typer.Context, group: _Group, member: _Member) -> None:
    """Take a member in."""
    with talk(ctx) as to:
        told = to.door.ask("PUT", at(_GROUPS, group, "members", member))
        to.done(told, _told(told))


@verbs.command("remove")
def remove_member(ctx: typer.Context, group: _Group, member: _Member) -> None:
    """Let a member go."""
    with talk(ctx) as to:
        told = to.door.ask("DELETE", at(_GROUPS, group, "members", member))
        to.done(told, _told(told))


@verbs.command()
def roles(
    ctx: typer.Context,
    group: _Group,
    role: Annotated[list[str] | None, typer.Argument(help="All of them; none takes all away.")] = None,
) -> None:
    """Let these be the tenant and security roles of a group."""
    with talk(ctx) as to:
        told = to.door.ask("PUT", at(_GROUPS, group, "roles"), body={"roles": role or []}, headers=ANY)
        to.done(told, f"{told['name']}: {', '.join(told['roles']) or 'no roles'}")


@verbs.command()
def delete(ctx: typer.Context, group: _Group) -> None:
    """End a group. Its members lose what they had by it, and nothing else."""
    with talk(ctx) as to:
        to.door.ask("DELETE", at(_GROUPS, group))
        to.done({"deleted": group}, f"The group {group} is gone.")


def _told(group: Json) -> str:
    count = len(group["member_ids"])
    return f"{group['name']} has {count} {'member' if count == 1 else 'members'}."


def add(app: typer.Typer) -> None:
    """Add the verbs."""
    app.add_typer(verbs, name="group", rich_help_panel="People")
