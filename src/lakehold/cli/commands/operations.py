"""Commands that operate a platform (up, server, worker, init, relocate, login, key, tls …), and demo, tour, docs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lakehold.cli import credentials_file, errors
from lakehold.cli.commands.access import audit
from lakehold.cli.output import CommandContext, command
from lakehold.kit.errors import ConflictError

if TYPE_CHECKING:
    from lakehold.directory.platform import Platform

_Socket = Annotated[int | None, typer.Option("--socket", hidden=True, help="Inherited listening socket.")]


def up() -> None:
    """Start everything: a server and its workers, with one log and one Ctrl-C.

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


def query_worker() -> None:
    """Run a process that answers queries and nothing else, beside a worker. Several can share a machine."""
    with errors.report_errors():
        from lakehold.kit import settings  # noqa: PLC0415
        from lakehold.worker import process  # noqa: PLC0415

        process.run_query_worker(settings.load_settings())


@command
def init(
    cmd: CommandContext,
    tenant: Annotated[str, typer.Argument(help="Name of your organisation.")],
    *,
    name: Annotated[str, typer.Option(help="Your name.")],
    email: Annotated[str, typer.Option(help="E-mail address for sign-in.")],
    token: Annotated[bool, typer.Option("--token", help="Also create and print an API token.")] = False,
) -> None:
    """Set up an empty installation: create the first tenant with you as its Owner.

    Works once, on this machine's data folder. The password is asked for, or read from a pipe.
    """
    from lakehold import workspaces  # noqa: PLC0415 - loaded by this verb only
    from lakehold.cli.local_transport import ADDRESS  # noqa: PLC0415
    from lakehold.directory import tenants, tokens  # noqa: PLC0415
    from lakehold.directory.caller import Caller, ClientInfo  # noqa: PLC0415

    password = _read_secret("Password", confirm=True)
    with _open_platform() as platform:
        founding = tenants.TenantSetup(tenant, name, email, password)
        client = ClientInfo(address=ADDRESS)
        founded = tenants.create_tenant(platform, workspaces.models(), founding, first=True, client=client)
        result = {"tenant": founded.tenant, "owner": founded.owner}
        if token:
            with platform.write(Caller(founded.tenant, founded.owner, address=ADDRESS)) as request_ctx:
                result["token"] = tokens.create(request_ctx, "first").secret
    message = f"{tenant} ({founded.tenant}) is set up; {name} is its Owner."
    cmd.print_result(result, f"{message}\n{result['token']}" if token else message)


def _read_secret(prompt: str, *, confirm: bool = False) -> str:
    if sys.stdin.isatty():
        secret: str = typer.prompt(prompt, hide_input=True, confirmation_prompt=confirm)
        return secret
    return sys.stdin.readline().rstrip("\n")


@contextmanager
def _open_platform() -> Iterator[Platform]:
    """Open the platform of this machine's data folder, migrated to this release."""
    from lakehold import workspaces  # noqa: PLC0415 - loaded by these verbs only
    from lakehold.directory import model_upgrade  # noqa: PLC0415
    from lakehold.directory.platform import Platform  # noqa: PLC0415
    from lakehold.kit import settings  # noqa: PLC0415

    with closing(Platform(settings.load_settings())) as platform:
        model_upgrade.migrate(platform, workspaces.models())
        yield platform


@command
def login(cmd: CommandContext) -> None:
    """Store a server's address and an API token, in a file that only you can read.

    The token is prompted for, or read from a pipe; it is tested before it is stored.
    """
    from lakehold.cli.http_transport import connect  # noqa: PLC0415 - loaded by this verb only

    url = credentials_file.resolve_login(cmd.options.url).url
    token = _read_secret("API token").strip()
    with closing(connect(url, token)) as transport:
        me = transport.request("GET", "/api/v1/me")
    where = credentials_file.store(credentials_file.Login(url, token))
    cmd.print_result({"url": url, "me": me}, f"Signed in to {url}; saved in {where}.")


@command
def logout(_cmd: CommandContext) -> None:
    """Delete the stored address and token. The token stays valid until it is revoked."""
    typer.echo("Forgotten." if credentials_file.delete() else "Not signed in.")


@command
def relocate(cmd: CommandContext) -> None:
    """Let a copied or moved installation have its tables in its own warehouse.

    Works on this machine's data folder, while all of its servers and workers are stopped. The files must have been
    copied before; those of the original are not touched. If it is interrupted, run it again. Warehouse and volumes
    belong to this installation afterwards; one that had them before no longer writes there.
    """
    from lakehold.lake import relocation  # noqa: PLC0415 - loaded by this verb only
    from lakehold.lake.iceberg_catalog import IcebergCatalog  # noqa: PLC0415
    from lakehold.runs import heartbeat  # noqa: PLC0415

    def report(text: str) -> None:
        typer.echo(text, err=True)

    with _open_platform() as platform, closing(IcebergCatalog(platform.settings)) as lake:
        heartbeat.refuse_live_workers(platform, report)
        count = relocation.relocate_tables(lake, report)
    where = platform.settings.warehouse_url
    text = f"{count:,} tables are in {where} now." if count else f"All tables are in {where} already."
    cmd.print_result({"relocated": count, "warehouse": where}, text)


@audit.verb()
def acknowledge(
    cmd: CommandContext,
    reason: Annotated[str, typer.Option(help="Why entries are missing. It is written to the log.")],
) -> None:
    """Accept audit logs that lack entries which the anchors confirm, as after the database was restored from a backup.

    Works on this machine's data folder; with several servers, on each of them. What is missing and the reason are
    written to the log itself. A log that is broken in itself is refused.
    """
    from lakehold.directory import audit_anchors  # noqa: PLC0415 - loaded by this verb only

    with _open_platform() as platform:
        found = audit_anchors.acknowledge(platform, reason)
    lines = [f"{each.tenant}, {each.chain}: {each.entries:,} entries. {each.fault}" for each in found]
    cmd.print_result({"items": [asdict(each) for each in found]}, "\n".join(lines) or "Nothing was missing.")


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

        read = settings.load_settings()
        if read.key.get_secret_value():
            raise ConflictError(
                "The key is given by LAKEHOLD_KEY.", "Put a new one (`lakehold key new`) and a comma before it there."
            )
        keys.rotate_key_file(read.data / "key")
        typer.echo("A new key was created. Restart servers and workers, then run `lakehold key finish`.")


@key_commands.command()
@command
def finish(_cmd: CommandContext) -> None:
    """Encrypt every secret and sign every audit log again with the newest key, and drop the older ones."""
    from lakehold.kit import keys  # noqa: PLC0415 - as above
    from lakehold.runs import key_rotation  # noqa: PLC0415

    with _open_platform() as platform:
        key_rotation.rotate_keys(platform, lambda what, count: typer.echo(f"{what}: {count:,}", err=True))
    if platform.settings.key.get_secret_value():
        typer.echo("All secrets use the first key of LAKEHOLD_KEY; remove the others.")
    else:
        keys.drop_old_keys(platform.settings.data / "key")
        typer.echo("All secrets use the newest key; older keys were removed.")


tls_commands = typer.Typer(no_args_is_help=True, help="Certificates of an own authority, for HTTPS.")


@tls_commands.command("init")
@command
def init_tls(
    cmd: CommandContext,
    names: Annotated[list[str] | None, typer.Argument(help="Host names and addresses of the server.")] = None,
) -> None:
    """Create a certificate for the server, signed by an authority of your own.

    The authority is created at the first time, in `tls` in the data folder. Later calls renew the server's
    certificate, which is valid for 13 months; localhost is always among its names. Restart the server afterwards.
    """
    from lakehold.kit import certificates, settings  # noqa: PLC0415 - loaded by this verb only

    read = settings.load_settings()
    files = certificates.issue(read.data.absolute() / "tls", ["localhost", "127.0.0.1", "::1", *(names or ())])
    result = {"certificate": files.server, "certificate_key": files.server_key, "authority": files.authority}
    lines = [
        f"LAKEHOLD_CERTIFICATE={files.server}",
        f"LAKEHOLD_CERTIFICATE_KEY={files.server_key}",
        f"Set these two, restart the server, and let clients trust {files.authority}",
        f"(browsers: import it; the command: SSL_CERT_FILE={files.authority}).",
    ]
    cmd.print_result({name: str(file) for name, file in result.items()}, "\n".join(lines))


def demo(
    folder: Annotated[Path, typer.Option(help="Folder of the demo company.")] = Path("lakehold-demo"),
) -> None:
    """Start the demo company: everything that `up` starts, and links that sign in as five of its people.

    It is made at the first start and kept; remove the folder to begin anew. Where there is a PostgreSQL, a branch sells
    something all the time, and a gateway brings it in.
    """
    with errors.report_errors():
        from lakehold.cli import demo as demo_company  # noqa: PLC0415 - loaded by this verb only
        from lakehold.cli import supervisor  # noqa: PLC0415

        if not demo_company.exists(folder):
            typer.echo("Creating Corner & Main, a small retailer …")
            demo_company.create(folder)

        def ready(address: str) -> None:
            typer.echo(f"Lakehold is running at {address}\n")
            for name, words, link in demo_company.sign_in_links(folder, address):
                typer.echo(f"{name}: {words}\n  {link}\n")
            typer.echo("Each link works once and expires in a day; every start prints new ones.")
            typer.echo("The web shop's data is loaded in the first minutes: see its runs.")
            typer.echo(f"Data folder: {folder}. Log: {folder / supervisor.LOG_FILE}. Ctrl-C stops it.")

        demo_company.run(folder, ready, typer.echo)


def tour(
    database: Annotated[str, typer.Option(help="Database of the demo company: sqlite:///file or postgresql://….")] = "",
) -> None:
    """Walk through check, list, who, explain and what-if, on the demo company, in the terminal."""
    with errors.report_errors():
        from rich.console import Console  # noqa: PLC0415 - loaded by this verb only

        from lakehold.cli import tour as guided_tour  # noqa: PLC0415

        guided_tour.run_tour(Console(), database)


def docs(
    folder: Annotated[Path, typer.Option(help="Output folder.")] = Path("docs/access"),
) -> None:
    """Write the access tables of all models."""
    from lakehold import workspaces  # noqa: PLC0415 - loaded by this verb only
    from lakehold.access.model.documentation import to_markdown  # noqa: PLC0415
    from lakehold.api.http import app  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    pages = {folder / f"{model.name}.md": to_markdown(model, workspaces.policy()) for model in workspaces.models()}
    for page, text in {**pages, folder.parent / "openapi.json": app.openapi_text()}.items():
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")
            typer.echo(f"written: {page}")
