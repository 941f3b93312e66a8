"""up, server, worker: the processes of an installation."""

from __future__ import annotations

from typing import Annotated

import typer

from lakehold.cli import errors

_Socket = Annotated[int | None, typer.Option("--socket", hidden=True, help="A listening socket that was handed over.")]


def up() -> None:
    """Start everything: a server and a worker, with one log and one Ctrl-C.

    Settings come from the environment, see docs/settings.md; without any, everything lies in ./lakehold-data.
    """
    with errors.told():
        from lakehold.api.frame import logs  # noqa: PLC0415 - loaded by this verb only
        from lakehold.cli.processes import supervisor  # noqa: PLC0415
        from lakehold.kit import settings  # noqa: PLC0415

        logs.install()
        read = settings.load_settings()
        link = supervisor.prepare_installation(read)

        def ready(address: str) -> None:
            typer.echo(f"Lakehold answers at {address}")
            if link:
                typer.echo(f"Nobody is here yet. Set it up, with this link that works once: {address}{link}")
            typer.echo("Ctrl-C stops it.")

        supervisor.run_supervisor(read, ready)


def server(socket: _Socket = None) -> None:
    """Run a server alone. Several can share a PostgreSQL database."""
    with errors.told():
        from lakehold.cli.processes import server_process  # noqa: PLC0415
        from lakehold.kit import settings  # noqa: PLC0415

        server_process.run(settings.load_settings(), socket)


def worker() -> None:
    """Run a worker alone. Several can share a PostgreSQL database and a data folder."""
    with errors.told():
        from lakehold.kit import settings  # noqa: PLC0415
        from lakehold.worker import process  # noqa: PLC0415

        process.run_worker(settings.load_settings())


def add(app: typer.Typer) -> None:
    """Add the verbs."""
    for verb in (up, server, worker):
        app.command(rich_help_panel="Running it")(verb)
