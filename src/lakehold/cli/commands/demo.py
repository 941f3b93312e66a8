"""Commands that need no platform: demo, tour, docs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lakehold.cli import errors


def demo(
    folder: Annotated[Path, typer.Option(help="Folder of the demo company.")] = Path("lakehold-demo"),
) -> None:
    """Start the demo company: everything that `up` starts, and links that sign in as five of its people.

    It is made at the first start and kept; remove the folder to begin anew.
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

        with demo_company.serve_api(folder):
            supervisor.run_supervisor(demo_company.demo_settings(folder), ready, log=folder / supervisor.LOG_FILE)


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
    from lakehold.cli.docs import write_docs  # noqa: PLC0415

    for page in write_docs(folder):
        typer.echo(f"written: {page}")
