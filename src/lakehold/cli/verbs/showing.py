"""demo, docs: what there is to see without an installation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lakehold.cli import errors


def demo(
    database: Annotated[
        str, typer.Option(help="Where to keep the demo company: sqlite:///file or postgresql://….")
    ] = "",
) -> None:
    """Load the demo company and walk through check, list, who, explain and what-if."""
    with errors.told():
        from rich.console import Console  # noqa: PLC0415 - loaded by this verb only

        from lakehold.cli import demo as command  # noqa: PLC0415

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
    for verb in (demo, docs):
        app.command(rich_help_panel="Looking around")(verb)
