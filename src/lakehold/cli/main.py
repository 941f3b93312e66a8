"""The command, its global options and its subcommands."""

from __future__ import annotations

from typing import Annotated

import typer

from lakehold.cli import errors
from lakehold.cli.commands import (
    access,
    access_as_code,
    audit,
    data,
    demo,
    grants,
    groups,
    invites,
    members,
    operations,
    requests,
    resources,
    tokens,
    workspaces,
)
from lakehold.cli.global_options import GlobalOptions, GlobalOptionsGroup

app = typer.Typer(cls=GlobalOptionsGroup, no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def main(
    ctx: typer.Context,
    *,
    url: Annotated[str, typer.Option(help="The server; else LAKEHOLD_URL, else that of `lakehold login`.")] = "",
    local: Annotated[bool, typer.Option("--local", help="No server: use the database of this machine.")] = False,
    tenant: Annotated[str, typer.Option(help="With --local: which tenant, if there are several.")] = "",
    member: Annotated[str, typer.Option("--as", help="With --local: as which member; else as an Owner.")] = "",
    json: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
) -> None:
    """A data platform in which one access engine decides everything.

    The options below may stand anywhere on the line. A token comes from LAKEHOLD_TOKEN or `lakehold login`.
    """
    options = ctx.obj = GlobalOptions(url, local, tenant, member, json)
    with errors.report_errors(as_json=json):
        options.validate()


_COMMANDS = (
    *(access.add, access.add_review, audit.add),
    *(data.add_queries, data.add_runs, data.add_tables),
    *(workspaces.add, resources.add, grants.add, requests.add),
    *(members.add, groups.add, invites.add, tokens.add),
    access_as_code.add,
    *(operations.add_processes, operations.add_init, operations.add_login, operations.add_keys),
    demo.add,
)
for add in _COMMANDS:
    add(app)
