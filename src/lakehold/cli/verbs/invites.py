"""invite: people who are to become members."""

from __future__ import annotations

from typing import Annotated

import typer

from lakehold.cli.door import at, pages
from lakehold.cli.talk import talk

_INVITES = "/api/v1/invites"
_COLUMNS = {"id": "id", "email": "e-mail", "roles": "roles", "made_by": "by", "until": "until"}

verbs = typer.Typer(no_args_is_help=True, help="People who are to become members.")

_Invite = Annotated[str, typer.Argument(help="The invite's id.")]
_Mail = Annotated[bool, typer.Option("--mail", help="Mail the link instead of showing it.")]


@verbs.command("list")
def list_(ctx: typer.Context) -> None:
    """Invites that nobody has accepted yet, the newest first."""
    with talk(ctx) as to:
        found = pages(to.door, _INVITES)
        shown = (
            found
            if to.json
            else [{**each, "roles": [f"{role['role']}@{role['resource']}" for role in each["roles"]]} for each in found]
        )
        to.table(shown, _COLUMNS, "No invites.")


@verbs.command()
def new(
    ctx: typer.Context,
    email: Annotated[str, typer.Argument(help="Whom to invite.")],
    *,
    role: Annotated[list[str] | None, typer.Option(help="role@resource; may be given several times.")] = None,
    mail: _Mail = False,
) -> None:
    """Invite somebody by a link, with the roles that they get when they accept."""
    roles = [{"role": name, "resource": there} for name, there in map(_role, role or [])]
    with talk(ctx) as to:
        told = to.door.ask("POST", _INVITES, body={"email": email, "roles": roles, "mail": mail})
        to.done(told, told["link"] or "The link was mailed.")


@verbs.command()
def again(ctx: typer.Context, invite: _Invite, *, mail: _Mail = False) -> None:
    """Make a new link in place of the old one."""
    with talk(ctx) as to:
        told = to.door.ask("POST", at(_INVITES, invite, "again"), body={"mail": mail})
        to.done(told, told["link"] or "The link was mailed.")


@verbs.command()
def revoke(ctx: typer.Context, invite: _Invite) -> None:
    """Let the link be good for nothing."""
    with talk(ctx) as to:
        to.door.ask("DELETE", at(_INVITES, invite))
        to.done({"revoked": invite}, f"The invite {invite} is revoked.")


def _role(text: str) -> tuple[str, str]:
    role, sign, resource = text.partition("@")
    if not sign or not role or not resource:
        raise typer.BadParameter(f"{text!r} is not role@resource.", param_hint="--role")
    return role, resource


def add(app: typer.Typer) -> None:
    """Add the verbs."""
    app.add_typer(verbs, name="invite", rich_help_panel="People")
