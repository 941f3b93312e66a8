"""How the terminal is told of an error: a sentence, what to do next, and an exit code; never a stack trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa
import typer

from lakehold.kit.errors import LakeholdError


@contextmanager
def told() -> Iterator[None]:
    """Turn an error that a person can act on into words."""
    try:
        yield
    except LakeholdError as error:
        typer.echo(f"{error.code}: {error}", err=True)
        raise typer.Exit(1) from error
    except sa.exc.OperationalError as error:
        typer.echo(f"database: it cannot be reached or opened: {error.orig}", err=True)
        raise typer.Exit(1) from error
