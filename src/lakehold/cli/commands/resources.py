"""Commands of resources of every kind."""

from __future__ import annotations

from typing import Annotated

import typer

from lakehold.cli.output import open_command
from lakehold.cli.transport import IF_MATCH_ANY, fetch_all, join_path

_RESOURCES = "/api/v1/resources"

commands = typer.Typer(no_args_is_help=True, help="What lies in workspaces: tables, data marts, projects …")

_Resource = Annotated[str, typer.Argument(help="The resource's id.")]


@commands.command("list")
def list_(
    ctx: typer.Context,
    *,
    kind: Annotated[list[str] | None, typer.Option(help="Only of this kind: lakehouse.table; several times.")] = None,
    within: Annotated[str | None, typer.Option(help="Only in this layer, project, workspace …")] = None,
    search: Annotated[str, typer.Option(help="A part of the name.")] = "",
    limit: Annotated[int, typer.Option(min=0, help="How many at the most; 0 for all.")] = 100,
) -> None:
    """The resources that you may see, by name."""
    with open_command(ctx) as cmd:
        found = fetch_all(cmd.transport, _RESOURCES, {"kind": kind, "within": within, "search": search}, limit)
        cmd.print_table(found, {"name": "name", "id": "id", "kind": "kind"}, "Nothing.")


@commands.command()
def show(ctx: typer.Context, resource: _Resource) -> None:
    """One resource."""
    with open_command(ctx) as cmd:
        cmd.print_fields(cmd.transport.request("GET", join_path(_RESOURCES, resource)))


@commands.command()
def new(
    ctx: typer.Context,
    kind: Annotated[str, typer.Argument(help="For example lakehouse.table.")],
    name: Annotated[str, typer.Argument(help="What it is called.")],
    *,
    edge: Annotated[list[str] | None, typer.Option(help="What it points at, as name=id: layer=clean.")] = None,
    value: Annotated[list[str] | None, typer.Option(help="An attribute, as name=value.")] = None,
    uid: Annotated[str | None, typer.Option("--id", help="Without one it is made.")] = None,
) -> None:
    """Make a resource. Its parent is one of its edges."""
    edges: dict[str, list[str]] = {}
    for name_, end in (_parse_pair(text, "--edge") for text in edge or []):
        edges.setdefault(name_, []).append(end)
    values = dict(_parse_pair(text, "--value") for text in value or [])
    body = {"kind": kind, "name": name, "edges": edges, "attributes": values, **({"id": uid} if uid else {})}
    with open_command(ctx) as cmd:
        result = cmd.transport.request("POST", _RESOURCES, body=body)
        cmd.print_result(result, result["id"])


@commands.command()
def rename(ctx: typer.Context, resource: _Resource, name: Annotated[str, typer.Argument(help="The new name.")]) -> None:
    """Call a resource by another name. Its id and all rights stay."""
    with open_command(ctx) as cmd:
        result = cmd.transport.request(
            "PATCH", join_path(_RESOURCES, resource), body={"name": name}, headers=IF_MATCH_ANY
        )
        cmd.print_result(result, f"{result['id']} is {result['name']} now.")


@commands.command()
def delete(ctx: typer.Context, resource: _Resource) -> None:
    """Delete a resource. Where others point at it, it can be restored."""
    with open_command(ctx) as cmd:
        result = cmd.transport.request("DELETE", join_path(_RESOURCES, resource))
        cmd.print_result(result, f"{resource} is deleted{' and can be restored' if result['restorable'] else ''}.")


@commands.command()
def restore(ctx: typer.Context, resource: _Resource) -> None:
    """Bring back what was deleted while others pointed at it."""
    with open_command(ctx) as cmd:
        result = cmd.transport.request("POST", join_path(_RESOURCES, resource, "restore"))
        cmd.print_result(result, f"{result['name']} is back.")


def _parse_pair(text: str, option: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise typer.BadParameter(f"{text!r} is not name=value.", param_hint=option)
    return name, value


def add(app: typer.Typer) -> None:
    """Register the commands."""
    app.add_typer(commands, name="resource", rich_help_panel="What there is")
