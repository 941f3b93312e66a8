"""check, explain, who, can: questions to the access engine."""

from __future__ import annotations

from typing import Annotated

import typer

from lakehold.cli.door import Json, pages
from lakehold.cli.exits import Exit
from lakehold.cli.talk import talk

_Member = Annotated[str, typer.Argument(help="A member's id, or `me`.")]
_Action = Annotated[str, typer.Argument(help="What they want to do, for example edit.")]
_Resource = Annotated[str, typer.Argument(help="A resource's id.")]
_At = Annotated[str | None, typer.Option(help="As of this moment: 2031-05-04T10:30:00Z.")]


def check(ctx: typer.Context, member: _Member, action: _Action, resource: _Resource, at: _At = None) -> None:
    """May they do this? Exit code 0 for yes, 1 for no."""
    with talk(ctx) as to:
        body = {"subject": _subject(member), "action": action, "resource": resource, "at": at}
        told = to.door.ask("POST", "/api/v1/access/check", body=body)
        to.done(told, "yes" if told["allowed"] else "no")
    if not told["allowed"]:
        raise typer.Exit(Exit.NO)


def explain(ctx: typer.Context, member: _Member, action: _Action, resource: _Resource, at: _At = None) -> None:
    """Tell why they may do this or not, and what would change it."""
    with talk(ctx) as to:
        body = {"subject": _subject(member), "action": action, "resource": resource, "at": at}
        told = to.door.ask("POST", "/api/v1/access/explain", body=body)
        to.show(told, human=lambda: _print_why(told))


def who(ctx: typer.Context, action: _Action, resource: _Resource, at: _At = None) -> None:
    """List all who may do this."""
    with talk(ctx) as to:
        found = pages(to.door, "/api/v1/access/who", {"action": action, "resource": resource, "at": at})
        to.table(found, {"name": "member", "id": "id"}, "Nobody.")


def can(
    ctx: typer.Context,
    member: _Member,
    *,
    resource: Annotated[str | None, typer.Option(help="All that they may do with this resource.")] = None,
    action: Annotated[str, typer.Option(help="With --kind: what they want to do.")] = "see",
    kind: Annotated[str | None, typer.Option(help="All resources of this kind: lakehouse.table.")] = None,
    within: Annotated[str | None, typer.Option(help="With --kind: only in this layer, workspace, …")] = None,
    search: Annotated[str, typer.Option(help="With --kind: a part of the name.")] = "",
    limit: Annotated[int, typer.Option(min=0, help="With --kind: how many at the most; 0 for all.")] = 100,
    at: _At = None,
) -> None:
    """List what they may do with a resource, or with which resources of a kind they may do something."""
    if (resource is None) == (kind is None):
        raise typer.BadParameter("Give either --resource or --kind.")
    with talk(ctx) as to:
        about = {"subject": _subject(member), "at": at}
        if resource is not None:
            told = to.door.ask("GET", "/api/v1/access/can/actions", query={**about, "resource": resource})
            to.done(told, ", ".join(told["actions"]) or "Nothing.")
            return
        wanted = {**about, "action": action, "kind": kind, "within": within, "search": search}
        found = pages(to.door, "/api/v1/access/can/resources", wanted, limit)
        to.table(found, {"name": "name", "id": "id", "kind": "kind"}, "Nothing.")


def _subject(member: str) -> str | None:
    return None if member == "me" else member


def _print_why(told: Json) -> None:
    from rich.console import Console  # noqa: PLC0415 - scripts do not need it
    from rich.markup import escape  # noqa: PLC0415
    from rich.tree import Tree  # noqa: PLC0415

    answer = "[green]may[/green]" if told["allowed"] else "[red]may not[/red]"
    tree = Tree(f"[bold]{escape(told['subject'])}[/bold] {answer} {escape(told['action'])} {escape(told['resource'])}")

    def branch(above: Tree, reason: Json) -> None:
        inner = above.add(f"{_mark(reason['held'])} {escape(reason['text'])}")
        for fact in reason["facts"]:
            inner.add(f"[dim]{escape(_spelled(fact))}[/dim]")
        for part in reason["parts"]:
            branch(inner, part)

    for path in (*told["paths"], *(gate for gate in told["gates"] if not gate["held"])):
        above = tree.add(
            f"{_mark(path['held'])} [cyan]{escape(path['rule'])}[/cyan]  [dim]{escape(path['place'])}[/dim]"
        )
        if told["allowed"] or path in told["gates"]:
            branch(above, path["reason"])
    for way in told["ways"]:
        would = tree.add("[yellow]would do[/yellow]")
        for needed in way["needed"]:
            people = ", ".join(giver["name"] for giver in needed["givers"]) or "nobody that you may know of"
            more = f" and {needed['more_givers']} more" if needed["more_givers"] else ""
            would.add(escape(f"{needed['text']}: given by {people}{more}"))
    Console().print(tree, highlight=False)


def _spelled(fact: Json) -> str:
    """A fact by its ids, as it can be given to other verbs."""
    match fact["fact"]:
        case "grant":
            return f"{fact['subject']} is {fact['role']} on {fact['resource']}"
        case "edge" if fact["name"] == "member_of":
            return f"{fact['source']} is in {fact['target']}"
        case "edge":
            return f"{fact['source']} has {fact['target']} as its {fact['name']}"
        case _:
            whose = f" for {fact['member']}" if fact["member"] else ""
            return f"{fact['resource']}: {fact['name']} is {fact['value']}{whose}"


def _mark(held: Json) -> str:
    return "[green]✓[/green]" if held else "[red]✗[/red]"


def add(app: typer.Typer) -> None:
    """Add the verbs."""
    for verb in (check, explain, who, can):
        app.command(rich_help_panel="Asking")(verb)
