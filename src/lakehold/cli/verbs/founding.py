"""init: the first tenant and its Owner, without a browser."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from lakehold.cli import errors, everywhere
from lakehold.cli.talk import echo_json


def init(
    ctx: typer.Context,
    tenant: Annotated[str, typer.Argument(help="The name of your organisation.")],
    *,
    name: Annotated[str, typer.Option(help="Your name.")],
    email: Annotated[str, typer.Option(help="With which you sign in.")],
    token: Annotated[bool, typer.Option("--token", help="Make an API token too, and print it.")] = False,
) -> None:
    """Set up an empty installation: make its first tenant, and become its Owner.

    Works once, on this machine's data folder. The password is asked for, or read from a pipe.
    """
    as_json = everywhere.said(ctx).json
    with errors.told(as_json=as_json):
        from lakehold import workspaces  # noqa: PLC0415 - loaded by this verb only
        from lakehold.cli.local import ADDRESS  # noqa: PLC0415
        from lakehold.directory import (
            tenants,  # noqa: PLC0415
            tokens,  # noqa: PLC0415
        )
        from lakehold.directory.caller import (
            Caller,  # noqa: PLC0415
            ClientInfo,  # noqa: PLC0415
        )
        from lakehold.directory.platform import Platform  # noqa: PLC0415
        from lakehold.directory.tenants import TenantSetup  # noqa: PLC0415
        from lakehold.kit import settings  # noqa: PLC0415

        password = _password()
        platform = Platform(settings.load_settings())
        try:
            platform.database.migrate()
            wanted = TenantSetup(tenant, name, email, password)
            founded = tenants.create_first_tenant(platform, workspaces.models(), wanted, ClientInfo(address=ADDRESS))
            told = {"tenant": founded.tenant, "owner": founded.owner}
            if token:
                with platform.write(Caller(founded.tenant, founded.owner, address=ADDRESS)) as ctx_values:
                    told["token"] = tokens.create(ctx_values, "first").secret
        finally:
            platform.close()
        if as_json:
            echo_json(told)
        else:
            typer.echo(f"{tenant} ({founded.tenant}) is set up; {name} is its Owner.")
            if token:
                typer.echo(told["token"])


def _password() -> str:
    if sys.stdin.isatty():
        asked: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
        return asked
    return sys.stdin.readline().rstrip("\n")


def add(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(rich_help_panel="Running it")(init)
