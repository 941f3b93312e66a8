"""How the terminal is told of an error: a sentence, what to do next, and an exit code; never a stack trace."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from lakehold.cli.exits import Exit, of_status
from lakehold.kit.errors import LakeholdError


class UnreachableError(LakeholdError):
    """Nobody answers there."""

    code = "unreachable"
    status = 503
    retryable = True


class RefusedError(LakeholdError):
    """What the server answered: its own code, status, words and hint."""

    code = "refused"

    def __init__(self, status: int, code: str, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.told_status = status
        self.told_code = code


@contextmanager
def told(*, as_json: bool = False) -> Iterator[None]:
    """Turn an error that a person can act on into words, or into JSON for scripts."""
    try:
        yield
    except RefusedError as error:
        _say(error.told_code, error, as_json=as_json)
        raise typer.Exit(of_status(error.told_status)) from error
    except UnreachableError as error:
        _say(error.code, error, as_json=as_json)
        raise typer.Exit(Exit.UNREACHABLE) from error
    except LakeholdError as error:
        _say(error.code, error, as_json=as_json)
        raise typer.Exit(of_status(error.status)) from error
    except Exception as error:
        if not _is_of_the_database(error):
            raise
        words = f"it cannot be reached or opened: {getattr(error, 'orig', error)}"
        _say("database", UnreachableError(words), as_json=as_json)
        raise typer.Exit(Exit.UNREACHABLE) from error


def _say(code: str, error: LakeholdError, *, as_json: bool) -> None:
    if as_json:
        said = {"code": code, "detail": error.message, "hint": error.hint}
        typer.echo(json.dumps(said, ensure_ascii=False), err=True)
    else:
        typer.echo(f"{code}: {error}", err=True)


def _is_of_the_database(error: Exception) -> bool:
    """Without loading what would be loaded only to ask this."""
    known = sys.modules.get("sqlalchemy.exc")
    return known is not None and isinstance(error, known.OperationalError)
