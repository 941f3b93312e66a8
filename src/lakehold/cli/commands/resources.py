"""Commands of workspaces, resources of every kind, grants and access requests."""

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from lakehold.cli.commands.noun import NEW_NAME, RENAMED, Name, NewId, Noun, Search, compact
from lakehold.cli.output import CommandContext, command
from lakehold.cli.transport import IF_MATCH_ANY, Json, join_path, unwrap_response
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote

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

_Edges = Annotated[list[str] | None, typer.Option("--edge", help="Edge, as name=id: layer=clean; repeatable.")]
_Values = Annotated[list[str] | None, typer.Option("--value", help="An attribute, as name=value; repeatable.")]
_Settings = Annotated[str | None, typer.Option(help="All settings: a JSON file, - for standard input, or '{…}'.")]
_Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="One setting, as name=value; JSON or text, null removes it; repeatable."),
]


@resources.sends("POST", "{result[id]}", "new")
def new_resource(
    kind: Annotated[str, typer.Argument(help="Kind, for example lakehouse.table.")],
    name: Name,
    *,
    edge: _Edges = None,
    value: _Values = None,
    description: Annotated[str, typer.Option(help="Description.")] = "",
    settings: _Settings = None,
    set_: _Set = None,
    uid: NewId = None,
) -> Json:
    """Create a resource. Its parent is one of its edges."""
    given = _merge_settings(_read_settings(settings or "{}"), set_)
    more = compact(id=uid, description=description, settings=given)
    return {"kind": kind, "name": name, **_parse_facts(edge, value), **more}


@resources.verb()
def edit(
    cmd: CommandContext,
    resource: _Resource,
    *,
    name: Annotated[str | None, typer.Option(help="The new name.")] = None,
    description: Annotated[str | None, typer.Option(help="The new description.")] = None,
    edge: _Edges = None,
    value: _Values = None,
    settings: _Settings = None,
    set_: _Set = None,
) -> None:
    """Change a resource; what is not named stays. An edge that is named points to the given resources only."""
    path, headers = join_path(resources.path, resource), IF_MATCH_ANY
    after = None if settings is None else _read_settings(settings)
    if set_ and after is None:
        # The API takes all settings at once; with the tag, others that were changed meanwhile are not overwritten.
        response = cmd.transport.send("GET", path)
        after = unwrap_response(response.status_code, response.content)["settings"] or {}
        headers = {"if-match": response.headers["etag"]}
    after = None if after is None else _merge_settings(after, set_)
    given = {"name": name, "description": description, "settings": after}
    body = {field: new for field, new in given.items() if new is not None} | _parse_facts(edge, value)
    result = cmd.transport.request("PATCH", path, body=body, headers=headers)
    cmd.print_result(result, f"{resource} was changed.")


def _parse_facts(edge: list[str] | None, value: list[str] | None) -> dict[str, Json]:
    edges: dict[str, list[str]] = {}
    for name, end in _parse_pairs(edge, "--edge"):
        edges.setdefault(name, []).append(end)
    return {"edges": edges, "attributes": dict(_parse_pairs(value, "--value"))}


def _read_settings(text: str) -> dict[str, Json]:
    """Return the settings of `--settings`: JSON itself, a dash for standard input, or the name of a file."""
    if not text.lstrip().startswith("{"):
        try:
            text = sys.stdin.read() if text == "-" else Path(text).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            hint = "Use a file with JSON, - for standard input, or '{…}'."
            raise InvalidInputError(f"{quote(text)} cannot be read: {error}.", hint, field="--settings") from None
    found = _parse_json(text, "--settings")
    if not isinstance(found, dict):
        raise InvalidInputError("Settings are one JSON object.", 'Write {"name": value, …}.', field="--settings")
    return found


def _merge_settings(settings: Mapping[str, Json], changes: list[str] | None) -> dict[str, Json]:
    """Return the settings with those of `--set`. Its value is JSON, or text if it is none; null removes a setting."""
    after = dict(settings)
    for name, text in _parse_pairs(changes, "--set"):
        after[name] = _parse_json(text, name) if _JSON_VALUE.fullmatch(text) else text
        if after[name] is None:
            del after[name]
    return after


_JSON_VALUE = re.compile(r'\s*(?:[\[{"].*|true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*', re.DOTALL)
"""A text that is meant as JSON: one that begins as a list, object or quoted text must be valid to its end."""


def _parse_json(text: str, field: str) -> Json:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidInputError(f"This is not JSON: {error}.", "Correct it.", field=field) from None


resources.add("rename", "PATCH /{resource}", "Rename a resource. Its ID and access do not change.", RENAMED, NEW_NAME)


@resources.verb()
def delete(cmd: CommandContext, resource: _Resource) -> None:
    """Delete a resource. It can be restored while other resources use it."""
    result = cmd.request("DELETE", resources.path, resource)
    cmd.print_result(result, f"{resource} was deleted{' and can be restored' if result['restorable'] else ''}.")


@resources.sends("POST /{resource}/restore", "{result[name]} was restored.")
def restore(*, name: Annotated[str, typer.Option(help="New name, if the old one was taken meanwhile.")] = "") -> Json:
    """Restore a deleted resource."""
    return compact(name=name)


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
    holder: Annotated[str | None, typer.Option("--of", help="Grants of this member or group.")] = None,
) -> None:
    """List direct grants on a resource, or of a member or group."""
    if (on is None) == (holder is None):
        raise typer.BadParameter("Use either --on or --of.")
    path = ("/api/v1/grants",) if on is None else (resources.path, on, "grants")
    columns = {"subject": "who", "title": "role", "resource": "on", "since": "since", "until": "until"}
    cmd.print_table(cmd.request("GET", *path, query={"subject": holder})["items"], columns, "No grants.")


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
