"""grant, revoke, grants: who holds which role on what."""

from __future__ import annotations

from typing import Annotated

import typer

from lakehold.cli.door import Json, at
from lakehold.cli.talk import Talk, talk

_RESOURCES = "/api/v1/resources"
_COLUMNS = {"subject": "who", "title": "role", "resource": "on", "since": "since", "until": "until"}

_Subject = Annotated[str, typer.Argument(help="A member's or group's id.")]
_Role = Annotated[str, typer.Argument(help="The role, as the model names it: viewer.")]
_Resource = Annotated[str, typer.Argument(help="The resource's id.")]
_Preview = Annotated[bool, typer.Option("--preview", help="Only tell who would win and lose what.")]


def grant(
    ctx: typer.Context,
    subject: _Subject,
    role: _Role,
    resource: _Resource,
    *,
    since: Annotated[str | None, typer.Option(help="When it begins: 2031-05-04T10:30:00Z.")] = None,
    until: Annotated[str | None, typer.Option(help="When it ends.")] = None,
    preview: _Preview = False,
) -> None:
    """Give a role to a member or a group, from now on or for a time."""
    with talk(ctx) as to:
        if preview:
            _preview(to, "add", subject, role, resource)
            return
        wanted = {"subject": subject, "role": role, "since": since, "until": until}
        body = {field: value for field, value in wanted.items() if value}
        told = to.door.ask("POST", at(_RESOURCES, resource, "grants"), body=body)
        to.done(told, f"{subject} is {role} on {resource}" + (f" until {until}." if until else "."))


def revoke(
    ctx: typer.Context, subject: _Subject, role: _Role, resource: _Resource, *, preview: _Preview = False
) -> None:
    """Take a role away."""
    with talk(ctx) as to:
        if preview:
            _preview(to, "remove", subject, role, resource)
            return
        to.door.ask("DELETE", at(_RESOURCES, resource, "grants"), query={"subject": subject, "role": role})
        to.done({"revoked": role}, f"{subject} is no longer {role} on {resource}.")


def grants(
    ctx: typer.Context,
    *,
    on: Annotated[str | None, typer.Option(help="On this resource.")] = None,
    of: Annotated[str | None, typer.Option(help="Of this member or group.")] = None,
) -> None:
    """List who holds which role on a resource itself, or what a member or group itself holds."""
    if (on is None) == (of is None):
        raise typer.BadParameter("Give either --on or --of.")
    with talk(ctx) as to:
        if on is not None:
            told = to.door.ask("GET", at(_RESOURCES, on, "grants"))
        else:
            told = to.door.ask("GET", "/api/v1/grants", query={"subject": of})
        to.table(told["items"], _COLUMNS, "No grants.")


def _preview(to: Talk, change: str, subject: str, role: str, resource: str) -> None:
    tried = {"changes": [{"change": change, "subject": subject, "role": role}]}
    told = to.door.ask("POST", at(_RESOURCES, resource, "grants", "preview"), body=tried)
    to.table(_effects(told), {"": "", "action": "action", "kind": "on", "members": "members", "resources": "resources"},
             "Nobody would win or lose anything.")  # fmt: skip


def _effects(told: Json) -> list[Json]:
    return [{"": "gain" if group["gained"] else "lose", **group} for group in told["groups"]]


def add(app: typer.Typer) -> None:
    """Add the verbs."""
    for verb in (grant, revoke, grants):
        app.command(rich_help_panel="What there is")(verb)
