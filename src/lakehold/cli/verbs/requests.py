"""request: asking for access, and answering."""

from __future__ import annotations

from typing import Annotated

import typer

from lakehold.cli.door import at, pages
from lakehold.cli.talk import talk

_REQUESTS = "/api/v1/requests"
_COLUMNS = {
    "id": "id", "asker": "who", "action": "wants to", "asked_for": "what", "reason": "why", "state": "state",
    "answer": "answer",
}  # fmt: skip

verbs = typer.Typer(no_args_is_help=True, help="Asking for access, and answering.")

_Request = Annotated[str, typer.Argument(help="The request's id.")]


@verbs.command("list")
def list_(
    ctx: typer.Context,
    *,
    waiting: Annotated[bool, typer.Option("--waiting", help="Those that you can answer, not your own.")] = False,
) -> None:
    """Requests, the newest first: your own, or those that wait for you."""
    with talk(ctx) as to:
        found = pages(to.door, f"{_REQUESTS}/waiting" if waiting else _REQUESTS)
        to.table(found, _COLUMNS, "No requests.")


@verbs.command()
def new(
    ctx: typer.Context,
    action: Annotated[str, typer.Argument(help="What you want to do.")],
    resource: Annotated[str, typer.Argument(help="With what.")],
    *,
    reason: Annotated[str, typer.Option(help="Why.")] = "",
) -> None:
    """Ask to be allowed something. Those who can give it are told."""
    with talk(ctx) as to:
        told = to.door.ask("POST", _REQUESTS, body={"action": action, "resource": resource, "reason": reason})
        to.done(told, told["id"])


@verbs.command()
def approve(
    ctx: typer.Context,
    request: _Request,
    *,
    until: Annotated[str | None, typer.Option(help="Only for a time: 2031-05-04T10:30:00Z.")] = None,
    answer: Annotated[str, typer.Option(help="A few words.")] = "",
) -> None:
    """Give what was asked for, with your own right."""
    body = {"answer": answer, **({"until": until} if until else {})}
    with talk(ctx) as to:
        told = to.door.ask("POST", at(_REQUESTS, request, "approve"), body=body)
        to.done(told, told["state"])


@verbs.command()
def refuse(ctx: typer.Context, request: _Request, answer: Annotated[str, typer.Argument(help="Why not.")]) -> None:
    """Say no, and why."""
    with talk(ctx) as to:
        told = to.door.ask("POST", at(_REQUESTS, request, "refuse"), body={"answer": answer})
        to.done(told, told["state"])


@verbs.command()
def withdraw(ctx: typer.Context, request: _Request) -> None:
    """Take your own request back."""
    with talk(ctx) as to:
        told = to.door.ask("POST", at(_REQUESTS, request, "withdraw"))
        to.done(told, told["state"])


def add(app: typer.Typer) -> None:
    """Add the verbs."""
    app.add_typer(verbs, name="request", rich_help_panel="What there is")
