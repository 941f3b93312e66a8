"""The command and its verbs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from lakehold.cli import demo as demo_command
from lakehold.cli import docs as docs_command
from lakehold.cli import errors

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback()
def main() -> None:
    """A data platform in which one access engine decides everything."""


@app.command()
def demo(
    database: Annotated[
        str, typer.Option(help="Where to keep the demo company: sqlite:///file or postgresql://….")
    ] = "",
) -> None:
    """Load the demo company and walk through check, list, who, explain and what-if."""
    with errors.told():
        demo_command.run(Console(), database)


@app.command()
def docs(
    folder: Annotated[Path, typer.Option(help="Where the pages go.")] = Path("docs/access"),
) -> None:
    """Write the access tables of all models."""
    for page in docs_command.write(folder):
        typer.echo(f"written: {page}")
