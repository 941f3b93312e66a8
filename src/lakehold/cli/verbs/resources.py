"""resource: tables, data marts, projects, and whatever else lies in workspaces."""

from __future__ import annotations

from typing import Annotated

import typer

from lakehold.cli.door import ANY, at, pages
from lakehold.cli.talk import talk

_RESOURCES = "/api/v1/resources"

verbs = typer.Typer(no_args_is_help=True, help="What lies in workspaces: tables, data marts, projects …")

_Resource = Annotated[str, typer.Argument(help="The resource's id.")]


@verbs.command("list")
def list_(
    ctx: typer.Context,
    *,
    kind: Annotated[list[str] | None, typer.Option(help="Only of this kind: lakehouse.table; several times.")] = None,
    within: Annotated[str | None, typer.Option(help="Only in this layer, project, workspace …")] = None,
    search: Annotated[str, typer.Option(help="A part of the name.")] = "",
    limit: Annotated[int, typer.Option(min=0, help="How many at the most; 0 for all.")] = 100,
) -> None:
    """The resources that you may see, by name."""
    with talk(ctx) as to:
        found = pages(to.door, _RESOURCES, {"kind": kind, "within": within, "search": search}, limit)
        to.table(found, {"name": "name", "id": "id", "kind": "kind"}, "Nothing.")


@verbs.command()
def show(ctx: typer.Context, resource: _Resource) -> None:
    """One resource."""
    with talk(ctx) as to:
        to.fields(to.door.ask("GET", at(_RESOURCES, resource)))


@verbs.command()
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
    for name_, end in (_pair(text, "--edge") for text in edge or []):
        edges.setdefault(name_, []).append(end)
    values = dict(_pair(text, "--value") for text in value or [])
    body = {"kind": kind, "name": name, "edges": edges, "attributes": values, **({"id": uid} if uid else {})}
    with talk(ctx) as to:
        told = to.door.ask("POST", _RESOURCES, body=body)
        to.done(told, told["id"])


@verbs.command()
def rename(ctx: typer.Context, resource: _Resource, name: Annotated[str, typer.Argument(help="The new name.")]) -> None:
    """Call a resource by another name. Its id and all rights stay."""
    with talk(ctx) as to:
        told = to.door.ask("PATCH", at(_RESOURCES, resource), body={"name": name}, headers=ANY)
        to.done(told, f"{told['id']} is {told['name']} now.")


@verbs.command()
def delete(ctx: typer.Context, resource: _Resource) -> None:
    """Delete a resource. Where others point at it, it can be restored."""
    with talk(ctx) as to:
        told = to.door.ask("DELETE", at(_RESOURCES, resource))
        to.done(told, f"{resource} is deleted{' and can be restored' if told['restorable'] else ''}.")


@verbs.command()
def restore(ctx: typer.Context, resource: _Resource) -> None:
    """Bring back what was deleted while others pointed at it."""
    with talk(ctx) as to:
        told = to.door.ask("POST", at(_RESOURCES, resource, "restore"))
        to.done(told, f"{told['name']} is back.")


def _pair(text: str, option: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise typer.BadParameter(f"{text!r} is not name=value.", param_hint=option)
    return name, value


def add(app: typer.Typer) -> None:
    """Add the verbs."""
    app.add_typer(verbs, name="resource", rich_help_panel="What there is")
