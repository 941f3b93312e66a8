"""The error hierarchy. A handler at each edge (HTTP, CLI, page, run) turns an error into an answer."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar


class LakeholdError(Exception):
    """The base class of all errors that a person can act on: what is wrong, where, and what to do next."""

    code: str = "error"
    status: int = 400
    retryable: ClassVar[bool] = False
    foreign: str = ""
    """The part of the message that another system has said, or that is a value of a row."""

    def __init__(self, message: str, hint: str = "", *, field: str = "", code: str = "", foreign: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.field = field
        """The setting or form field that is wrong, such as `keys` or `endpoints.0.path`; empty if it is none."""
        if foreign:
            self.foreign = foreign
        if code:
            self.code = code
            """A narrower code than that of the class, for handlers that tell such errors apart."""

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()

    def without_foreign(self) -> str:
        """Return the text for those who may not know what another system says, or what is in its rows."""
        message = self.message.replace(self.foreign, "…") if self.foreign else self.message
        return f"{message} {self.hint}".strip()


@contextmanager
def at_field(name: str) -> Iterator[None]:
    """Let the errors raised inside be about this setting, unless they name one themselves."""
    try:
        yield
    except LakeholdError as error:
        error.field = error.field or name
        raise


@contextmanager
def without_foreign(*, hides: bool) -> Iterator[None]:
    """Leave the words of other systems out of errors raised inside, where `hides` says that they may not be known."""
    try:
        yield
    except LakeholdError as error:
        if hides and error.foreign:
            error.message, error.foreign = error.message.replace(error.foreign, "…"), ""
        raise


class InvalidInputError(LakeholdError):
    """A value that is invalid whatever the facts are."""

    code = "invalid_input"
    status = 422


class NotFoundError(LakeholdError):
    """The resource does not exist, or the caller may not know of it: the same answer for both."""

    code = "not_found"
    status = 404


class ConflictError(LakeholdError):
    """A valid request that conflicts with the present state."""

    code = "conflict"
    status = 409


class ForbiddenError(LakeholdError):
    """The caller may see the resource, but not do this with it."""

    code = "forbidden"
    status = 403


class BusyError(LakeholdError):
    """Another transaction was first; the same request may be made again."""

    code = "busy"
    status = 409
    retryable = True


class LimitExceededError(LakeholdError):
    """A member exceeded a limit on concurrency, time or size."""

    code = "limit_reached"
    status = 429


class UnavailableError(LakeholdError):
    """A host, jar, disk or worker that the request needs is not available at the moment."""

    code = "unavailable"
    status = 503
