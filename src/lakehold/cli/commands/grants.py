"""Commands of grants: grant, revoke, grants."""

from __future__ import annotations

from typing import Annotated

import typer

from lakehold.cli.output import CommandContext, open_command
from lakehold.cli.transport import Json, join_path

_RESOURCES = "/api/v1/resources"
_COLUMNS = {"subject": "who", "title": "role", "resource": "on", "since": "since", "until": "until"}

_Subject = Annotated[str, typer.Argument(help="Member or group ID.")]
_Role = Annotated[str, typer.Argument(help="Role name in the model: viewer.")]
_Resource = Annotated[str, typer.Argument(help="Resource ID.")]
_Preview = Annotated[bool, typer.Option("--preview", help="Preview the effect without changing anything.")]


def grant(
    ctx: typer.Context,
    subject: _Subject,
    role: _Role,
    resource: _Resource,
    *,
    since: Annotated[str | None, typer.Option(help="Start: 2031-05-04T10:30:00Z.")] = None,
    until: Annotated[str | None, typer.Option(help="Expiration.")] = None,
    preview: _Preview = False,
) -> None:
    """Grant a role to a member or group, permanently or for a time."""
    with open_command(ctx) as cmd:
        if preview:
            _preview(cmd, "add", subject, role, resource)
            return
        fields = {"subject": subject, "role": role, "since": since, "until": until}
        body = {field: value for field, value in fields.items() if value}
        result = cmd.transport.request("POST", join_path(_RESOURCES, resource, "grants"), body=body)
        cmd.print_result(result, f"{subject} is {role} on {resource}" + (f" until {until}." if until else "."))


def revoke(
    ctx: typer.Context, subject: _Subject, role: _Role, resource: _Resource, *, preview: _Preview = False
) -> None:
    """Revoke a role."""
    with open_command(ctx) as cmd:
        if preview:
            _preview(cmd, "remove", subject, role, resource)
            return
        cmd.transport.request(
            "DELETE", join_path(_RESOURCES, resource, "grants"), query={"subject": subject, "role": role}
        )
        cmd.print_result({"revoked": role}, f"{subject} is no longer {role} on {resource}.")


def grants(
    ctx: typer.Context,
    *,
    on: Annotated[str | None, typer.Option(help="Grants on this resource.")] = None,
    of: Annotated[str | None, typer.Option(help="Grants of this member or group.")] = None,
) -> None:
    """List direct grants on a resource, or of a member or group."""
    if (on is None) == (of is None):
        raise typer.BadParameter("Use either --on or --of.")
    with open_command(ctx) as cmd:
        if on is not None:
            result = cmd.transport.request("GET", join_path(_RESOURCES, on, "grants"))
        else:
            result = cmd.transport.request("GET", "/api/v1/grants", query={"subject": of})
        cmd.print_table(result["items"], _COLUMNS, "No grants.")


def _preview(cmd: CommandContext, change: str, subject: str, role: str, resource: str) -> None:
    body = {"changes": [{"change": change, "subject": subject, "role": role}]}
    result = cmd.transport.request("POST", join_path(_RESOURCES, resource, "grants", "preview"), body=body)
    columns = {"": "", "action": "action", "kind": "on", "members": "members", "resources": "resources"}
    cmd.print_table(_effect_rows(result), columns, "Nobody gains or loses access.")


def _effect_rows(result: Json) -> list[Json]:
    return [{"": "gain" if group["gained"] else "lose", **group} for group in result["groups"]]
