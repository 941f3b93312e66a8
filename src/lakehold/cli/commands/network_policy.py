"""Commands of the tenant's network policy."""

from typing import Annotated

import typer

from lakehold.cli.commands.noun import Noun, Yes
from lakehold.cli.output import CommandContext
from lakehold.cli.transport import Json, unwrap_response

network_policy = Noun("/api/v1/tenant/network-policy", "Which hosts and mail domains connections may reach.")

_ALL, _NONE = "all", "none"
_LISTS = {"destination_hosts": "data is sent to", "mail_domains": "mails are sent to", "source_hosts": "read from"}
_Entries = list[str] | None
_HELP = f"one for each option; {_ALL}, or {_NONE}. Left out, the list stays."


@network_policy.verb("show")
def show_network_policy(cmd: CommandContext) -> None:
    """Show the policy, and the resources that it refuses."""
    found = cmd.request("GET", network_policy.path)
    cmd.print_value(found, human=lambda: _print_policy(found))


@network_policy.verb("set")
def set_network_policy(
    cmd: CommandContext,
    *,
    to: Annotated[_Entries, typer.Option("--to", help=f"Host that data may be sent to, {_HELP}")] = None,
    mail: Annotated[_Entries, typer.Option("--mail", help=f"Mail domain, {_HELP}")] = None,
    source: Annotated[_Entries, typer.Option("--from", help=f"Host that data may be read from, {_HELP}")] = None,
    yes: Yes = False,
) -> None:
    """Set lists of the policy. What it newly refuses is listed, and asked about."""
    response = cmd.transport.send("GET", network_policy.path)
    present = unwrap_response(response.status_code, response.content)
    given = dict(zip(_LISTS, (to, mail, source), strict=True))
    body = {name: present[name] if given[name] is None else _entries(given[name] or []) for name in _LISTS}
    if not yes and not cmd.json:
        refused = cmd.request("POST", network_policy.path, "try", body=body)["items"]
        if new := [each for each in refused if each not in present["refused"]]:
            _print_refused(new)
            typer.confirm(f"Their runs will fail ({len(new)}). Save the policy?", abort=True)
    # With the tag, what others have changed meanwhile is not overwritten.
    headers = {"if-match": response.headers["etag"]}
    saved = cmd.transport.request("PUT", network_policy.path, body=body, headers=headers)
    cmd.print_value(saved, human=lambda: _print_policy(saved))


def _entries(given: list[str]) -> list[str] | None:
    return {_ALL: None, _NONE: []}.get(given[0], given) if len(given) == 1 else given


def _print_policy(found: Json) -> None:
    for name, words in _LISTS.items():
        listed = "all" if found[name] is None else ", ".join(found[name]) or "none"
        typer.echo(f"{words:<18} {listed}")
    if found["refused"]:
        typer.echo("Refused:")
        _print_refused(found["refused"])


def _print_refused(refused: list[Json]) -> None:
    for each in refused:
        typer.echo(f"  {each['resource']['name']} ({each['resource']['id']}): {each['host'] or each['field']}")
