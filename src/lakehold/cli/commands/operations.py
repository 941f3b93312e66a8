"""Commands that operate a platform: up, server, worker, init, login, logout, key."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from lakehold.cli import errors
from lakehold.cli.output import CommandContext, from_context, print_json

_Socket = Annotated[int | None, typer.Option("--socket", hidden=True, help="Inherited listening socket.")]


def up() -> None:
    """Start everything: a server and a worker, with one log and one Ctrl-C.

    Settings come from the environment, see docs/reference/settings.md; without any, everything is kept in
    ./lakehold-data.
    """
    with errors.report_errors():
        from lakehold.api.http import json_logging  # noqa: PLC0415 - loaded by this verb only
        from lakehold.cli import supervisor  # noqa: PLC0415
        from lakehold.kit import settings  # noqa: PLC0415

        json_logging.configure_logging()
        read = settings.load_settings()
        link = supervisor.prepare_installation(read)

        def ready(address: str) -> None:
            typer.echo(f"Lakehold is running at {address}")
            if link:
                typer.echo(f"Not set up yet. Open this one-time link to set it up: {address}{link}")
            typer.echo("Ctrl-C stops it.")

        supervisor.run_supervisor(read, ready)


def server(socket: _Socket = None) -> None:
    """Run a server alone. Several can share a PostgreSQL database."""
    with errors.report_errors():
        from lakehold.cli import server_process  # noqa: PLC0415
        from lakehold.kit import settings  # noqa: PLC0415

        server_process.run(settings.load_settings(), socket)


def worker() -> None:
    """Run a worker alone. Several can share a PostgreSQL database and a data folder."""
    with errors.report_errors():
        from lakehold.kit import settings  # noqa: PLC0415
        from lakehold.worker import process  # noqa: PLC0415

        process.run_worker(settings.load_settings())


def init(
    ctx: typer.Context,
    tenant: Annotated[str, typer.Argument(help="Name of your organisation.")],
    *,
    name: Annotated[str, typer.Option(help="Your name.")],
    email: Annotated[str, typer.Option(help="E-mail address for sign-in.")],
    token: Annotated[bool, typer.Option("--token", help="Also create and print an API token.")] = False,
) -> None:
    """Set up an empty installation: create the first tenant with you as its Owner.

    Works once, on this machine's data folder. The password is asked for, or read from a pipe.
    """
    as_json = from_context(ctx).json
    with errors.report_errors(as_json=as_json):
        from lakehold import workspaces  # noqa: PLC0415 - loaded by this verb only
        from lakehold.cli.local_transport import ADDRESS  # noqa: PLC0415
        from lakehold.directory import model_upgrade, tenants, tokens  # noqa: PLC0415
        from lakehold.directory.caller import Caller, ClientInfo  # noqa: PLC0415
        from lakehold.directory.platform import Platform  # noqa: PLC0415
        from lakehold.directory.tenants import TenantSetup  # noqa: PLC0415
        from lakehold.kit import settings  # noqa: PLC0415

        password = _read_password()
        platform = Platform(settings.load_settings())
        try:
            model_upgrade.migrate(platform, workspaces.models())
            founding = TenantSetup(tenant, name, email, password)
            founded = tenants.create_first_tenant(platform, workspaces.models(), founding, ClientInfo(address=ADDRESS))
            result = {"tenant": founded.tenant, "owner": founded.owner}
            if token:
                with platform.write(Caller(founded.tenant, founded.owner, address=ADDRESS)) as request_ctx:
                    result["token"] = tokens.create(request_ctx, "first").secret
        finally:
            platform.close()
        if as_json:
            print_json(result)
        else:
            typer.echo(f"{tenant} ({founded.tenant}) is set up; {name} is its Owner.")
            if token:
                typer.echo(result["token"])


def _read_password() -> str:
    if sys.stdin.isatty():
        password: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
        return password
    return sys.stdin.readline().rstrip("\n")


def login(ctx: typer.Context) -> None:
    """Store a server's address and an API token, in a file that only you can read.

    The token is prompted for, or read from a pipe; it is tested before it is stored.
    """
    options = from_context(ctx)
    with errors.report_errors(as_json=options.json):
        from lakehold.cli import credentials_file  # noqa: PLC0415 - loaded by this verb only
        from lakehold.cli.remote_transport import RemoteTransport  # noqa: PLC0415

        url = credentials_file.resolve_login(options.url).url
        token = typer.prompt("API token", hide_input=True) if sys.stdin.isatty() else sys.stdin.readline().strip()
        transport = RemoteTransport(url, token)
        try:
            me = transport.request("GET", "/api/v1/me")
        finally:
            transport.close()
        where = credentials_file.store(credentials_file.Login(url, token))
        CommandContext(transport, options.json).print_result(
            {"url": url, "me": me}, f"Signed in to {url}; saved in {where}."
        )


def logout(ctx: typer.Context) -> None:
    """Delete the stored address and token. The token stays valid until it is revoked."""
    options = from_context(ctx)
    with errors.report_errors(as_json=options.json):
        from lakehold.cli import credentials_file  # noqa: PLC0415 - as above

        there = credentials_file.delete()
        typer.echo("Forgotten." if there else "Not signed in.")


key_commands = typer.Typer(no_args_is_help=True, help="The key that encrypts secrets and signs the audit log.")


@key_commands.command()
def new() -> None:
    """Print a new random key, for LAKEHOLD_KEY."""
    from lakehold.kit.keys import generate_key  # noqa: PLC0415 - loaded by this verb only

    typer.echo(generate_key())


@key_commands.command()
def rotate() -> None:
    """Start using a new key. Older keys are kept for reading.

    Works on this machine's data folder. Restart servers and workers afterwards, then run `lakehold key finish`.
    """
    with errors.report_errors():
        from lakehold.kit import keys, settings  # noqa: PLC0415 - as above
        from lakehold.kit.errors import ConflictError  # noqa: PLC0415

        read = settings.load_settings()
        if read.key.get_secret_value():
            raise ConflictError(
                "The key is given by LAKEHOLD_KEY.", "Put a new one (`lakehold key new`) and a comma before it there."
            )
        keys.rotate_key_file(read.data / "key")
        typer.echo("A new key was created. Restart servers and workers, then run `lakehold key finish`.")


@key_commands.command()
def finish(ctx: typer.Context) -> None:
    """Encrypt every secret and sign every audit log again with the newest key, and drop the older ones."""
    as_json = from_context(ctx).json
    with errors.report_errors(as_json=as_json):
        from lakehold import workspaces  # noqa: PLC0415 - as above
        from lakehold.directory import model_upgrade  # noqa: PLC0415
        from lakehold.directory.platform import Platform  # noqa: PLC0415
        from lakehold.kit import keys, settings  # noqa: PLC0415
        from lakehold.runs import key_rotation  # noqa: PLC0415

        read = settings.load_settings()
        platform = Platform(read)
        try:
            model_upgrade.migrate(platform, workspaces.models())
            key_rotation.rotate_keys(platform, lambda what, count: typer.echo(f"{what}: {count:,}", err=True))
        finally:
            platform.close()
        if read.key.get_secret_value():
            typer.echo("All secrets use the first key of LAKEHOLD_KEY; remove the others.")
        else:
            keys.drop_old_keys(read.data / "key")
            typer.echo("All secrets use the newest key; older keys were removed.")
