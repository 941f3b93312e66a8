"""The one error tree. A handler at each edge (HTTP, CLI, page, run) turns it into an answer."""

from __future__ import annotations

from typing import ClassVar


class LakeholdError(Exception):
    """A refusal that a person can act on: what is wrong, where, and what to do next."""

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 400
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class InvalidInputError(LakeholdError):
    """A value that can never be right, whatever the facts are."""

    code = "invalid_input"
    status = 422


class NotFoundError(LakeholdError):
    """Something that does not exist, or that the asker may not know of: the same answer for both."""

    code = "not_found"
    status = 404


class ConflictError(LakeholdError):
    """Right in itself, but not in the present state."""

    code = "conflict"
    status = 409


class ForbiddenError(LakeholdError):
    """The person may know of it, but not do this with it."""

    code = "forbidden"
    status = 403


class BusyError(LakeholdError):
    """Another transaction was first; the same request may be made again."""

    code = "busy"
    status = 409
    retryable = True


class UnavailableError(LakeholdError):
    """Something that this needs cannot be had at the moment: a host, a jar, a disk, a worker."""

    code = "unavailable"
    status = 503
