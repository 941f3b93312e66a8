"""What the command's exit codes mean, in one place."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """For scripts. The same refusal has the same code, whether a server said it or the embedded database."""

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


_BY_STATUS = {
    400: Exit.USAGE,
    401: Exit.FORBIDDEN,
    403: Exit.FORBIDDEN,
    404: Exit.NOT_FOUND,
    409: Exit.CONFLICT,
    412: Exit.CONFLICT,
    413: Exit.USAGE,
    422: Exit.USAGE,
    428: Exit.CONFLICT,
    429: Exit.CONFLICT,
}


def of_status(status: int) -> Exit:
    """The exit code that belongs to the status of an error."""
    return _BY_STATUS.get(status, Exit.FAILED)
