"""token: API tokens, for scripts and other programs."""

from __future__ import annotations

from typing import Annotated

import typer

from lakehold.cli.door import at, pages
from lakehold.cli.talk import talk

_TOKENS = "/api/v1/tokens"
_COLUMNS = {"id": "id", "name": "name", "member": "member", "until": "until", "used_at": "last used"}

verbs = typer.Typer(no_args_is_help=True, help="API tokens, for scripts and other programs.")


@verbs.command()
def new(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What it is for.")],
    *,
    member: Annotated[str | None, typer.Option(help="For this service account, instead of for yourself.")] = None,
    days: Annotated[int, typer.Option(min=0, help="How long it lasts; 0 for no end.")] = 90,
    action: Annotated[list[str] | None, typer.Option(help="Only for this action; may be given several times.")] = None,
    resource: Annotated[list[str] | None, typer.Option(help="Only in this resource; as above.")] = None,
) -> None:
    """Make a token. Its secret is shown once."""
    wanted = {"name": name, "days": days or None, "member": member, "actions": action, "resources": resource}
    with talk(ctx) as to:
        body = {field: value for field, value in wanted.items() if value or field == "days"}
        told = to.door.ask("POST", _TOKENS, body=body)
        to.done(told, told["secret"])


@verbs.command("list")
def list_(
    ctx: typer.Context,
    *,
    member: Annotated[str | None, typer.Option(help="Of this member; else your own.")] = None,
    everybody: Annotated[bool, typer.Option("--all", help="Of everybody.")] = False,
) -> None:
    """Tokens, the newest first."""
    with talk(ctx) as to:
        found = pages(to.door, f"{_TOKENS}/all") if everybody else pages(to.door, _TOKENS, {"member": member})
        to.table(found, _COLUMNS, "No tokens.")


@verbs.command()
def revoke(ctx: typer.Context, token: Annotated[str, typer.Argument(help="Its id.")]) -> None:
    """End a token at once."""
    with talk(ctx) as to:
        to.door.ask("DELETE", at(_TOKENS, token))
        to.done({"revoked": token}, f"Token {token} is revoked.")


def add(app: typer.Typer) -> None:
    """Add the verbs."""
    app.add_typer(verbs, name="token", rich_help_panel="People")
