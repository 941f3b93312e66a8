"""workspace: the places that resources lie in, and who is in them."""

from __future__ import annotations

from typing import Annotated

import typer

from lakehold.cli.door import Json, at, pages
from lakehold.cli.talk import talk

_WORKSPACES = "/api/v1/workspaces"

verbs = typer.Typer(no_args_is_help=True, help="The places that resources lie in, and who is in them.")

_Workspace = Annotated[str, typer.Argument(help="The workspace's id.")]
_Subject = Annotated[str, typer.Argument(help="A member's or group's id.")]


@verbs.command("list")
def list_(
    ctx: typer.Context,
    *,
    model: Annotated[str | None, typer.Option(help="Only of this model: lakehouse.")] = None,
    search: Annotated[str, typer.Option(help="A part of the name.")] = "",
) -> None:
    """The workspaces that you may see, by name."""
    with talk(ctx) as to:
        found = pages(to.door, _WORKSPACES, {"model": model, "search": search})
        to.table(found, {"name": "name", "id": "id", "kind": "kind"}, "No workspaces.")


@verbs.command()
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
    with talk(ctx) as to:
        told = to.door.ask("POST", _WORKSPACES, body=body)
        to.done(told, told["id"])


@verbs.command()
def members(ctx: typer.Context, workspace: _Workspace) -> None:
    """Who is in a workspace, with which roles."""
    with talk(ctx) as to:
        told = to.door.ask("GET", at(_WORKSPACES, workspace, "members"))["items"]
        shown = told if to.json else [_line(member) for member in told]
        to.table(shown, {"subject": "who", "roles": "roles", "attributes": "and"}, "Nobody.")


@verbs.command("set")
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
    wanted: Json = {"subject": subject, "attributes": dict(map(_value, value or []))}
    if role is not None:
        wanted["roles"] = role
    if until is not None:
        wanted["until"] = until
    with talk(ctx) as to:
        told = to.door.ask("PUT", at(_WORKSPACES, workspace, "members"), body=wanted)
        to.done(told, f"{subject} in {workspace}: {', '.join(role or []) or 'as before'}.")


@verbs.command()
def remove(ctx: typer.Context, workspace: _Workspace, subject: _Subject) -> None:
    """Take a member or group out of a workspace."""
    with talk(ctx) as to:
        to.door.ask("DELETE", at(_WORKSPACES, workspace, "members"), query={"subject": subject})
        to.done({"removed": subject}, f"{subject} is no longer in {workspace}.")


def _line(member: Json) -> Json:
    return {**member, "roles": [role["title"] for role in member["roles"]]}


def _value(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise typer.BadParameter(f"{text!r} is not name=value.", param_hint="--value")
    return name, value


def add(app: typer.Typer) -> None:
    """Add the verbs."""
    app.add_typer(verbs, name="workspace", rich_help_panel="What there is")
