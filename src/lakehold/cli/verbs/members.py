"""member: people and service accounts."""

from __future__ import annotations

from typing import Annotated

import typer

from lakehold.cli.door import ANY, Json, at, pages
from lakehold.cli.talk import talk

_MEMBERS = "/api/v1/members"
_COLUMNS = {"name": "name", "id": "id", "email": "e-mail", "roles": "roles", "groups": "groups"}

verbs = typer.Typer(no_args_is_help=True, help="People and service accounts.")

_Member = Annotated[str, typer.Argument(help="The member's id.")]


@verbs.command("list")
def list_(ctx: typer.Context, search: Annotated[str, typer.Option(help="A part of the name.")] = "") -> None:
    """All members, by name."""
    with talk(ctx) as to:
        to.table(pages(to.door, _MEMBERS, {"search": search}), _COLUMNS, "No members.")


@verbs.command()
def show(ctx: typer.Context, member: _Member) -> None:
    """One member."""
    with talk(ctx) as to:
        told = to.door.ask("GET", at(_MEMBERS, member))
        to.fields(told)


@verbs.command("add")
def add_member(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What they are called.")],
    *,
    email: Annotated[str | None, typer.Option(help="With which they sign in.")] = None,
    uid: Annotated[str | None, typer.Option("--id", help="Without one it is made.")] = None,
    service: Annotated[bool, typer.Option("--service", help="A service account: nobody signs in.")] = False,
) -> None:
    """Add a member without an invite, or a service account."""
    where = "/api/v1/service-accounts" if service else _MEMBERS
    wanted = {"name": name, "email": None if service else email, "id": uid}
    with talk(ctx) as to:
        told = to.door.ask("POST", where, body={field: value for field, value in wanted.items() if value})
        to.done(told, told["id"])


@verbs.command()
def rename(ctx: typer.Context, member: _Member, name: Annotated[str, typer.Argument(help="The new name.")]) -> None:
    """Call a member by another name."""
    with talk(ctx) as to:
        told = to.door.ask("PATCH", at(_MEMBERS, member), body={"name": name}, headers=ANY)
        to.done(told, f"{told['id']} is {told['name']} now.")


@verbs.command()
def roles(
    ctx: typer.Context,
    member: _Member,
    role: Annotated[list[str] | None, typer.Argument(help="All of them; none takes all away.")] = None,
) -> None:
    """Let these be the tenant and security roles of a member."""
    with talk(ctx) as to:
        told = to.door.ask("PUT", at(_MEMBERS, member, "roles"), body={"roles": role or []}, headers=ANY)
        to.done(told, f"{told['name']}: {', '.join(told['roles']) or 'no roles'}")


@verbs.command()
def link(
    ctx: typer.Context,
    member: _Member,
    *,
    password: Annotated[bool, typer.Option("--password", help="To set a password, not only to sign in.")] = False,
    mail: Annotated[bool, typer.Option("--mail", help="Mail it instead of showing it.")] = False,
) -> None:
    """Make a link with which a member signs in, or sets a password."""
    body = {"purpose": "password" if password else "sign_in", "mail": mail}
    with talk(ctx) as to:
        told = to.door.ask("POST", at(_MEMBERS, member, "links"), body=body)
        to.done(told, told["link"] or "The link was mailed.")


@verbs.command()
def remove(
    ctx: typer.Context,
    member: _Member,
    *,
    receiver: Annotated[str | None, typer.Option("--to", help="Who gets what they own; else it is left.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Remove a member. What they own is handed over, or left without an owner; nothing is deleted."""
    with talk(ctx) as to:
        if not yes and not to.json:
            _ask(to.door.ask("GET", at(_MEMBERS, member, "removal")), receiver)
        told = to.door.ask("DELETE", at(_MEMBERS, member), query={"receiver": receiver})
        left = f" {len(told['left'])} things are left without an owner." if told["left"] else ""
        to.done(told, f"{told['name']} is removed. {len(told['moved'])} things were handed over.{left}")


def _ask(told: Json, receiver: str | None) -> None:
    for owned in told["owns"]:
        typer.echo(f"  {owned['role']} of {owned['name']} ({owned['kind']})")
    fate = f"goes to {receiver}" if receiver else "is left without an owner"
    typer.confirm(f"Remove {told['name']}? What they own ({len(told['owns'])}) {fate}.", abort=True)


def add(app: typer.Typer) -> None:
    """Add the verbs."""
    app.add_typer(verbs, name="member", rich_help_panel="People")
