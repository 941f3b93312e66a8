"""demo, tour, docs: what there is to see without an installation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lakehold.cli import errors


def demo(
    folder: Annotated[Path, typer.Option(help="Where the demo company is kept.")] = Path("lakehold-demo"),
) -> None:
    """Start the demo company: everything that `up` starts, and links that sign in as five of its people.

    It is made at the first start and kept; remove the folder to begin anew.
    """
    with errors.told():
        from lakehold.cli import demo as company  # noqa: PLC0415 - loaded by this verb only
        from lakehold.cli.processes import supervisor  # noqa: PLC0415

        if not company.is_there(folder):
            typer.echo("Making Corner & Main, a small retailer …")
            company.make(folder)

        def ready(address: str) -> None:
            typer.echo(f"Lakehold answers at {address}\n")
            for name, words, link in company.links_at(folder, address):
                typer.echo(f"{name}: {words}\n  {link}\n")
            typer.echo("Each link signs in once, in a day at the most; every start prints new ones.")
            typer.echo("The web shop's data arrives in the first minutes: see its runs.")
            typer.echo(f"All of it lies in {folder}, its log in {folder / supervisor.LOG_FILE}. Ctrl-C stops it.")

        with company.api(folder):
            supervisor.run_supervisor(company.settings_in(folder), ready, log=folder / supervisor.LOG_FILE)


def tour(
    database: Annotated[
        str, typer.Option(help="Where to keep the demo company: sqlite:///file or postgresql://….")
    ] = "",
) -> None:
    """Walk through check, list, who, explain and what-if, on the demo company, in the terminal."""
    with errors.told():
        from rich.console import Console  # noqa: PLC0415 - loaded by this verb only

        from lakehold.cli import tour as command  # noqa: PLC0415

        command.run(Console(), database)


def docs(
    folder: Annotated[Path, typer.Option(help="Where the pages go.")] = Path("docs/access"),
) -> None:
    """Write the access tables of all models."""
    from lakehold.cli import docs as command  # noqa: PLC0415

    for page in command.write(folder):
        typer.echo(f"written: {page}")


def add(app: typer.Typer) -> None:
    """Add the verbs."""
    for verb in (demo, tour, docs):
        app.command(rich_help_panel="Looking around")(verb)
