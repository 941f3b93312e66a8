"""Error messages of the terminal, and exit codes. An error prints a message and a hint, never a stack trace."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

import typer

from lakehold.kit.errors import LakeholdError


class ExitCode(IntEnum):
    """Exit codes, for scripts. An error has the same code with a server and with the embedded database."""

    DONE = 0
    """Yes, or done."""
    NO = 1
    """No: not allowed, a test failed, a plan has changes, the audit log does not verify."""
    USAGE = 2
    """The command cannot be understood, or a value can never be right."""
    NOT_FOUND = 3
    """There is no such thing, or none that you may know of."""
    FORBIDDEN = 4
    """You may not do this; the message says what is missing and who can give it. Also: not signed in."""
    CONFLICT = 5
    """Right in itself, but not in the present state; or somebody else was first."""
    UNREACHABLE = 6
    """The server or the database does not answer."""
    FAILED = 7
    """Something went wrong on the other side."""


def exit_code_for_status(status: int) -> ExitCode:
    """Return the exit code of an error's HTTP status."""
    match status:
        case 400 | 413 | 422:
            return ExitCode.USAGE
        case 401 | 403:
            return ExitCode.FORBIDDEN
        case 404:
            return ExitCode.NOT_FOUND
        case 409 | 412 | 428 | 429:
            return ExitCode.CONFLICT
        case _:
            return ExitCode.FAILED


class UnreachableError(LakeholdError):
    """The server or database does not answer."""

    code = "unreachable"
    status = 503
    retryable = True


class ResponseError(LakeholdError):
    """An error response of the server, with its own code, status, message and hint."""

    code = "refused"

    def __init__(self, status: int, code: str, message: str, hint: str = "", *, field: str = "") -> None:
        super().__init__(message, hint, field=field, code=code)
        self.status = status


@contextmanager
def report_errors(*, as_json: bool = False) -> Iterator[None]:
    """Print errors that a person can act on, as text or as JSON, and exit with their code."""
    try:
        yield
    except LakeholdError as error:
        _print_error(error, as_json=as_json)
        unreachable = isinstance(error, UnreachableError)
        raise typer.Exit(ExitCode.UNREACHABLE if unreachable else exit_code_for_status(error.status)) from error
    except Exception as error:
        # What the database raised is found out without importing SQLAlchemy.
        module = sys.modules.get("sqlalchemy.exc")
        if module is None or not isinstance(error, module.OperationalError):
            raise
        message = f"it cannot be reached or opened: {getattr(error, 'orig', error)}"
        _print_error(UnreachableError(message, code="database"), as_json=as_json)
        raise typer.Exit(ExitCode.UNREACHABLE) from error


def _print_error(error: LakeholdError, *, as_json: bool) -> None:
    if as_json:
        payload = {"code": error.code, "detail": error.message, "hint": error.hint}
        payload |= {"field": error.field} if error.field else {}
        typer.echo(json.dumps(payload, ensure_ascii=False), err=True)
    else:
        typer.echo(f"{error.code}: {error.field and f'{error.field}: '}{error}", err=True)
