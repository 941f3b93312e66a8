"""Commands of people: members and service accounts, groups, invites, API tokens."""

from typing import Annotated

import typer

from lakehold.cli.commands.noun import NEW_NAME, RENAMED, Name, NewId, Noun, Search, Yes, compact
from lakehold.cli.output import CommandContext
from lakehold.cli.transport import Json, fetch_all

members = Noun("/api/v1/members", "People and service accounts.", {"member": "Member ID."})
groups = Noun("/api/v1/groups", "Groups of members.", {"group": "Group ID.", "member": "Member ID."})
invites = Noun("/api/v1/invites", "Invites for new members.", {"invite": "Invite ID."})
tokens = Noun("/api/v1/tokens", "API tokens, for scripts and other programs.", {"token": "Token ID."})

_Roles = Annotated[list[str] | None, typer.Argument(help="All roles; none removes all.")]


def _link_text(result: Json) -> str:
    return result["link"] or "The link was mailed."


def _roles_text(result: Json) -> str:
    return f"{result['name']}: {', '.join(result['roles']) or 'no roles'}"


@members.verb("list")
def list_members(cmd: CommandContext, search: Search = "") -> None:
    """List members by name."""
    columns = {"name": "name", "id": "id", "email": "e-mail", "roles": "roles", "groups": "groups"}
    cmd.print_list(members.path, columns, "No members.", {"search": search})


members.add("show", "GET /{member}", "Show a member.")


@members.verb("add")
def add_member(
    cmd: CommandContext,
    name: Name,
    *,
    email: Annotated[str | None, typer.Option(help="E-mail address for sign-in.")] = None,
    uid: NewId = None,
    service: Annotated[bool, typer.Option("--service", help="Create a service account.")] = False,
) -> None:
    """Add a member without an invite, or a service account."""
    where = "/api/v1/service-accounts" if service else members.path
    result = cmd.request("POST", where, body=compact(name=name, email=None if service else email, id=uid))
    cmd.print_result(result, result["id"])


members.add("rename", "PATCH /{member}", "Rename a member.", RENAMED, NEW_NAME)


@members.sends("PUT /{member}/roles", _roles_text, "roles")
def set_member_roles(role: _Roles = None) -> Json:
    """Set the tenant and security roles of a member."""
    return {"roles": role or []}


@members.sends("POST /{member}/links", _link_text)
def link(
    *,
    password: Annotated[bool, typer.Option("--password", help="Link to set a password instead of signing in.")] = False,
    mail: Annotated[bool, typer.Option("--mail", help="Mail it instead of showing it.")] = False,
    revoke_tokens: Annotated[bool, typer.Option("--revoke-tokens", help="Also revoke all their API tokens.")] = False,
) -> Json:
    """Create a link to sign in or to set a password."""
    return {"purpose": "password" if password else "sign_in", "mail": mail, "revoke_tokens": revoke_tokens}


@members.verb("remove")
def remove_member(
    cmd: CommandContext,
    member: Annotated[str, typer.Argument(help="Member ID.")],
    *,
    receiver: Annotated[str | None, typer.Option("--to", help="New owner of what they own.")] = None,
    yes: Yes = False,
) -> None:
    """Remove a member. Ownership is transferred, or left without an owner; nothing is deleted."""
    if not yes and not cmd.json:
        removal = cmd.request("GET", members.path, member, "removal")
        for owned in removal["owns"]:
            typer.echo(f"  {owned['role']} of {owned['name']} ({owned['kind']})")
        fate = f"goes to {receiver}" if receiver else "is left without an owner"
        typer.confirm(f"Remove {removal['name']}? What they own ({len(removal['owns'])}) {fate}.", abort=True)
    result = cmd.request("DELETE", members.path, member, query={"receiver": receiver})
    left = f" {len(result['left'])} resources are left without an owner." if result["left"] else ""
    cmd.print_result(result, f"{result['name']} was removed. {len(result['moved'])} resources transferred.{left}")


def _member_count_text(group: Json) -> str:
    count = len(group["member_ids"])
    return f"{group['name']} has {count} {'member' if count == 1 else 'members'}."


@groups.verb("list")
def list_groups(cmd: CommandContext, search: Search = "") -> None:
    """List groups by name."""
    cmd.print_list(groups.path, {"name": "name", "id": "id"}, "No groups.", {"search": search})


groups.add("show", "GET /{group}", "Show a group with its members and roles.")


@groups.sends("POST", "{result[id]}", "new")
def new_group(name: Name, uid: NewId = None) -> Json:
    """Create an empty group."""
    return compact(name=name, id=uid)


groups.add("rename", "PATCH /{group}", "Rename a group.", RENAMED, NEW_NAME)
groups.add("add", "PUT /{group}/members/{member}", "Add a member to a group.", _member_count_text)
groups.add("remove", "DELETE /{group}/members/{member}", "Remove a member from a group.", _member_count_text)


@groups.sends("PUT /{group}/roles", _roles_text, "roles")
def set_group_roles(role: _Roles = None) -> Json:
    """Set the tenant and security roles of a group."""
    return {"roles": role or []}


groups.add(
    "delete",
    "DELETE /{group}",
    "Delete a group. Its members lose the access they have through it.",
    "Group {group} was deleted.",
    done="deleted",
)

_Mail = Annotated[bool, typer.Option("--mail", help="Mail the link instead of showing it.")]


@invites.verb("list")
def list_invites(cmd: CommandContext) -> None:
    """List pending invites, newest first."""
    found = fetch_all(cmd.transport, invites.path)
    if not cmd.json:
        found = [{**each, "roles": [f"{role['role']}@{role['resource']}" for role in each["roles"]]} for each in found]
    columns = {"id": "id", "email": "e-mail", "roles": "roles", "made_by": "by", "until": "until"}
    cmd.print_table(found, columns, "No invites.")


@invites.sends("POST", _link_text, "new")
def new_invite(
    email: Annotated[str, typer.Argument(help="E-mail address.")],
    *,
    role: Annotated[list[str] | None, typer.Option(help="role@resource; repeatable.")] = None,
    mail: _Mail = False,
) -> Json:
    """Create an invite link, with roles granted on acceptance."""
    roles = [{"role": name, "resource": there} for name, there in map(_parse_role, role or [])]
    return {"email": email, "roles": roles, "mail": mail}


def _parse_role(text: str) -> tuple[str, str]:
    role, sign, resource = text.partition("@")
    if not sign or not role or not resource:
        raise typer.BadParameter(f"{text!r} is not role@resource.", param_hint="--role")
    return role, resource


@invites.sends("POST /{invite}/again", _link_text)
def again(*, mail: _Mail = False) -> Json:
    """Replace the link by a new one."""
    return {"mail": mail}


invites.add("revoke", "DELETE /{invite}", "Revoke an invite.", "Invite {invite} was revoked.", done="revoked")


@tokens.sends("POST", "{result[secret]}", "new")
def new_token(
    name: Name,
    *,
    member: Annotated[str | None, typer.Option(help="For this service account.")] = None,
    days: Annotated[int, typer.Option(min=0, help="Days until it expires; 0 for never.")] = 90,
    action: Annotated[list[str] | None, typer.Option(help="Limit to this action; repeatable.")] = None,
    resource: Annotated[list[str] | None, typer.Option(help="Limit to this resource; repeatable.")] = None,
) -> Json:
    """Create a token. It is shown once."""
    return {"days": days or None, **compact(name=name, member=member, actions=action, resources=resource)}


@tokens.verb("list")
def list_tokens(
    cmd: CommandContext,
    *,
    member: Annotated[str | None, typer.Option(help="Tokens of this member; default: your own.")] = None,
    everybody: Annotated[bool, typer.Option("--all", help="Tokens of all members.")] = False,
) -> None:
    """List tokens, newest first."""
    columns = {"id": "id", "name": "name", "member": "member", "until": "until", "used_at": "last used"}
    path, query = (f"{tokens.path}/all", {}) if everybody else (tokens.path, {"member": member})
    cmd.print_list(path, columns, "No tokens.", query)


tokens.add("revoke", "DELETE /{token}", "Revoke a token.", "Token {token} was revoked.", done="revoked")
