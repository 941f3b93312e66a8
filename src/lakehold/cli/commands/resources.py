"""Commands of workspaces, resources of every kind, grants and access requests."""

from typing import Annotated

import typer

from lakehold.cli.commands.noun import NEW_NAME, RENAMED, Name, NewId, Noun, Search, compact
from lakehold.cli.output import CommandContext, command
from lakehold.cli.transport import Json

workspaces = Noun("/api/v1/workspaces", "Workspaces and their members.")
resources = Noun("/api/v1/resources", "Resources: tables, data marts, projects …", {"resource": "Resource ID."})
requests = Noun("/api/v1/requests", "Access requests.", {"request": "Request ID."})

RESOURCE_COLUMNS = {"name": "name", "id": "id", "kind": "kind"}
_Workspace = Annotated[str, typer.Argument(help="Workspace ID.")]
_Subject = Annotated[str, typer.Argument(help="Member or group ID.")]
_Resource = Annotated[str, typer.Argument(help="Resource ID.")]
_Until = Annotated[str | None, typer.Option(help="Expiration.")]


@workspaces.verb("list")
def list_workspaces(
    cmd: CommandContext,
    *,
    model: Annotated[str | None, typer.Option(help="Only this model: lakehouse.")] = None,
    search: Search = "",
) -> None:
    """List workspaces that you can see, by name."""
    cmd.print_list(workspaces.path, RESOURCE_COLUMNS, "No workspaces.", {"model": model, "search": search})


@workspaces.sends("POST", "{result[id]}", "new")
def new_workspace(
    model: Annotated[str, typer.Argument(help="Model: marts, lakehouse, spaces, products, or a custom one.")],
    name: Name,
    *,
    uid: NewId = None,
    description: Annotated[str, typer.Option(help="Description.")] = "",
) -> Json:
    """Create a workspace. You get the creator role of its model."""
    return {"model": model, "name": name, "description": description, **compact(id=uid)}


@workspaces.verb()
def members(cmd: CommandContext, workspace: _Workspace) -> None:
    """List the members of a workspace with their roles."""
    found = cmd.request("GET", workspaces.path, workspace, "members")["items"]
    if not cmd.json:
        found = [{**member, "roles": [role["title"] for role in member["roles"]]} for member in found]
    cmd.print_table(found, {"subject": "who", "roles": "roles", "attributes": "and"}, "Nobody.")


@workspaces.verb("set")
def set_member(
    cmd: CommandContext,
    workspace: _Workspace,
    subject: _Subject,
    *,
    role: Annotated[list[str] | None, typer.Option(help="Role; repeatable. Replaces all roles.")] = None,
    value: Annotated[list[str] | None, typer.Option(help="Of the membership, as name=value: scope=….")] = None,
    until: _Until = None,
) -> None:
    """Set the roles of a member or group in a workspace."""
    body: Json = {"subject": subject, "attributes": dict(_parse_pairs(value, "--value"))}
    body |= {name: given for name, given in (("roles", role), ("until", until)) if given is not None}
    result = cmd.request("PUT", workspaces.path, workspace, "members", body=body)
    cmd.print_result(result, f"{subject} in {workspace}: {', '.join(role or []) or 'as before'}.")


@workspaces.verb("remove")
def remove_member(cmd: CommandContext, workspace: _Workspace, subject: _Subject) -> None:
    """Remove a member or group from a workspace."""
    cmd.request("DELETE", workspaces.path, workspace, "members", query={"subject": subject})
    cmd.print_result({"removed": subject}, f"{subject} is no longer in {workspace}.")


def _parse_pairs(texts: list[str] | None, option: str) -> list[tuple[str, str]]:
    pairs = []
    for text in texts or []:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise typer.BadParameter(f"{text!r} is not name=value.", param_hint=option)
        pairs.append((name, value))
    return pairs


@resources.verb("list")
def list_resources(
    cmd: CommandContext,
    *,
    kind: Annotated[list[str] | None, typer.Option(help="Only this kind: lakehouse.table; repeatable.")] = None,
    within: Annotated[str | None, typer.Option(help="Only in this layer, project, workspace …")] = None,
    search: Search = "",
    limit: Annotated[int, typer.Option(min=0, help="Maximum number of results; 0 for all.")] = 100,
) -> None:
    """List resources that you can see, by name."""
    query = {"kind": kind, "within": within, "search": search}
    cmd.print_list(resources.path, RESOURCE_COLUMNS, "Nothing.", query, limit)


resources.add("show", "GET /{resource}", "Show a resource.")


@resources.sends("POST", "{result[id]}", "new")
def new_resource(
    kind: Annotated[str, typer.Argument(help="Kind, for example lakehouse.table.")],
    name: Name,
    *,
    edge: Annotated[list[str] | None, typer.Option(help="Edge, as name=id: layer=clean.")] = None,
    value: Annotated[list[str] | None, typer.Option(help="An attribute, as name=value.")] = None,
    uid: NewId = None,
) -> Json:
    """Create a resource. Its parent is one of its edges."""
    edges: dict[str, list[str]] = {}
    for edge_name, end in _parse_pairs(edge, "--edge"):
        edges.setdefault(edge_name, []).append(end)
    values = dict(_parse_pairs(value, "--value"))
    return {"kind": kind, "name": name, "edges": edges, "attributes": values, **compact(id=uid)}


resources.add("rename", "PATCH /{resource}", "Rename a resource. Its ID and access do not change.", RENAMED, NEW_NAME)


@resources.verb()
def delete(cmd: CommandContext, resource: _Resource) -> None:
    """Delete a resource. It can be restored while other resources use it."""
    result = cmd.request("DELETE", resources.path, resource)
    cmd.print_result(result, f"{resource} was deleted{' and can be restored' if result['restorable'] else ''}.")


resources.add("restore", "POST /{resource}/restore", "Restore a deleted resource.", "{result[name]} was restored.")

_Role = Annotated[str, typer.Argument(help="Role name in the model: viewer.")]
_Preview = Annotated[bool, typer.Option("--preview", help="Preview the effect without changing anything.")]


@command
def grant(
    cmd: CommandContext,
    subject: _Subject,
    role: _Role,
    resource: _Resource,
    *,
    since: Annotated[str | None, typer.Option(help="Start: 2031-05-04T10:30:00Z.")] = None,
    until: _Until = None,
    preview: _Preview = False,
) -> None:
    """Grant a role to a member or group, permanently or for a time."""
    if preview:
        _preview_change(cmd, "add", subject, role, resource)
        return
    body = compact(subject=subject, role=role, since=since, until=until)
    result = cmd.request("POST", resources.path, resource, "grants", body=body)
    cmd.print_result(result, f"{subject} is {role} on {resource}" + (f" until {until}." if until else "."))


@command
def revoke(
    cmd: CommandContext, subject: _Subject, role: _Role, resource: _Resource, *, preview: _Preview = False
) -> None:
    """Revoke a role."""
    if preview:
        _preview_change(cmd, "remove", subject, role, resource)
        return
    cmd.request("DELETE", resources.path, resource, "grants", query={"subject": subject, "role": role})
    cmd.print_result({"revoked": role}, f"{subject} is no longer {role} on {resource}.")


def _preview_change(cmd: CommandContext, change: str, subject: str, role: str, resource: str) -> None:
    body = {"changes": [{"change": change, "subject": subject, "role": role}]}
    effects = cmd.request("POST", resources.path, resource, "grants", "preview", body=body)
    rows = [{"": "gain" if group["gained"] else "lose", **group} for group in effects["groups"]]
    columns = {"": "", "action": "action", "kind": "on", "members": "members", "resources": "resources"}
    cmd.print_table(rows, columns, "Nobody gains or loses access.")


@command
def grants(
    cmd: CommandContext,
    *,
    on: Annotated[str | None, typer.Option(help="Grants on this resource.")] = None,
    of: Annotated[str | None, typer.Option(help="Grants of this member or group.")] = None,
) -> None:
    """List direct grants on a resource, or of a member or group."""
    if (on is None) == (of is None):
        raise typer.BadParameter("Use either --on or --of.")
    path = ("/api/v1/grants",) if on is None else (resources.path, on, "grants")
    columns = {"subject": "who", "title": "role", "resource": "on", "since": "since", "until": "until"}
    cmd.print_table(cmd.request("GET", *path, query={"subject": of})["items"], columns, "No grants.")


@requests.verb("list")
def list_requests(
    cmd: CommandContext,
    *,
    waiting: Annotated[bool, typer.Option("--waiting", help="Requests that you can approve, not your own.")] = False,
) -> None:
    """List requests, newest first: your own, or those that you can approve."""
    columns = {"id": "id", "asker": "who", "action": "wants to", "asked_for": "what", "reason": "why"}
    columns |= {"state": "state", "answer": "answer"}
    cmd.print_list(f"{requests.path}/waiting" if waiting else requests.path, columns, "No requests.")


@requests.sends("POST", "{result[id]}", "new")
def new_request(
    action: Annotated[str, typer.Argument(help="Action.")],
    resource: _Resource,
    *,
    reason: Annotated[str, typer.Option(help="Why.")] = "",
) -> Json:
    """Request access. Those who can grant it are notified."""
    return {"action": action, "resource": resource, "reason": reason}


@requests.sends("POST /{request}/approve", "{result[state]}")
def approve(
    *,
    until: Annotated[str | None, typer.Option(help="Expiration: 2031-05-04T10:30:00Z.")] = None,
    answer: Annotated[str, typer.Option(help="Message.")] = "",
) -> Json:
    """Approve a request."""
    return {"answer": answer, **compact(until=until)}


requests.add("refuse", "POST /{request}/refuse", "Deny a request.", "{result[state]}", {"answer": "Reason."})
requests.add("withdraw", "POST /{request}/withdraw", "Withdraw your own request.", "{result[state]}")
