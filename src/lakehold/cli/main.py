"""The command and its verbs."""

from __future__ import annotations

from typing import Annotated

import typer

from lakehold.cli import errors
from lakehold.cli.everywhere import Everywhere, Hoisting
from lakehold.cli.verbs import (
    asking,
    audit,
    code,
    founding,
    grants,
    groups,
    invites,
    keys,
    members,
    processes,
    querying,
    requests,
    resources,
    reviewing,
    running,
    showing,
    signing,
    tables,
    tokens,
    workspaces,
)

app = typer.Typer(cls=Hoisting, no_args_is_help=True, pretty_exceptions_enable=False)


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
    said = ctx.obj = Everywhere(url, local, tenant, member, json)
    with errors.told(as_json=json):
        said.refuse()


_VERBS = (
    *(asking, reviewing, audit),
    *(querying, running, tables),
    *(workspaces, resources, grants, requests),
    *(members, groups, invites, tokens),
    code,
    *(processes, founding, signing, keys),
    showing,
)
for verbs in _VERBS:
    verbs.add(app)
