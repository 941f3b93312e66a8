"""The command, its global options and its subcommands."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Annotated

import typer

from lakehold.cli import errors
from lakehold.cli.commands import (
    access,
    access_as_code,
    data,
    data_projects,
    network_policy,
    operations,
    people,
    resources,
)
from lakehold.cli.output import GlobalOptions, GlobalOptionsGroup
from lakehold.workspaces import registry

app = typer.Typer(cls=GlobalOptionsGroup, no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def main(
    ctx: typer.Context,
    *,
    url: Annotated[str, typer.Option(help="Server URL; default: LAKEHOLD_URL, or that of `lakehold login`.")] = "",
    local: Annotated[bool, typer.Option("--local", help="Use the local database instead of a server.")] = False,
    tenant: Annotated[str, typer.Option(help="With --local: the tenant, if there are several.")] = "",
    member: Annotated[str, typer.Option("--as", help="With --local: the member to act as; default: an Owner.")] = "",
    json: Annotated[bool, typer.Option("--json", help="Output JSON.")] = False,
) -> None:
    """A data platform in which one access engine decides everything.

    The options below may stand anywhere on the line. A token comes from LAKEHOLD_TOKEN or `lakehold login`.
    """
    options = ctx.obj = GlobalOptions(url, local, tenant, member, json)
    with errors.report_errors(as_json=json):
        options.validate()


Verb = Callable[..., None]

_PANELS: tuple[tuple[str, tuple[Verb, ...], dict[str, typer.Typer]], ...] = (
    ("Access", (access.check, access.explain, access.who, access.can, access.review), {"audit": access.audit}),
    (
        "Data",
        (data.sql, data.run, data.runs, data.stop, data.resume, data.logs, data.lineage),
        {"table": data.tables, "project": data_projects.data_projects},
    ),
    (
        "Resources",
        (resources.grant, resources.revoke, resources.grants),
        {"workspace": resources.workspaces, "resource": resources.resources, "request": resources.requests},
    ),
    (
        "People",
        (),
        {"member": people.members, "group": people.groups, "invite": people.invites, "token": people.tokens},
    ),
    ("Access as code", (access_as_code.export, access_as_code.plan, access_as_code.apply), {}),
    (
        "Operations",
        (
            *(
                operations.up,
                operations.server,
                operations.worker,
                operations.query_worker,
                operations.init,
                operations.relocate,
            ),
            *(operations.login, operations.logout),
        ),
        {
            "key": operations.key_commands,
            "tls": operations.tls_commands,
            "network-policy": network_policy.network_policy,
        },
    ),
    ("Demo", (operations.demo, operations.tour, operations.docs), {}),
)
"""The commands by the panel of the help that they are in: those of a single verb, and those of a noun with verbs."""
for panel, verbs, nouns in _PANELS:
    for verb in verbs:
        app.command(rich_help_panel=panel)(verb)
    for noun, commands in nouns.items():
        app.add_typer(commands, name=noun, rich_help_panel=panel)
app.command("test", rich_help_panel="Access as code")(access_as_code.run_tests)


def _reporting_errors(verb: Verb) -> Verb:
    """Return a verb of a way of working whose errors are printed as those of all commands."""

    @wraps(verb)
    def run(**values: object) -> None:
        with errors.report_errors():
            verb(**values)

    return run


def _add_noun(name: str, verbs: Sequence[Verb]) -> None:
    """Add the verbs that a way of working has for a noun of its own."""
    summary = (verbs[0].__globals__["__doc__"] or "").partition("\n")[0]
    noun = typer.Typer(no_args_is_help=True, help=summary)
    for verb in verbs:
        noun.command()(_reporting_errors(verb))
    app.add_typer(noun, name=name, rich_help_panel="Operations")


for workspace in registry.all_workspaces():
    for noun_name, noun_verbs in workspace.commands().items():
        _add_noun(noun_name, noun_verbs)
