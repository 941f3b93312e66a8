"""Refusals that are audited, and errors of authentication."""

from lakehold.kit.errors import ForbiddenError, LakeholdError, NotFoundError


class DeniedError(ForbiddenError):
    """The caller may see the resource, but not do this with it."""

    def __init__(
        self,
        message: str,
        hint: str,
        *,
        action: str,
        resource: str,
        givers: tuple[str, ...] = (),
        names: tuple[str, ...] = (),
        missing: str = "",
    ) -> None:
        super().__init__(message, hint)
        self.action = action
        self.resource = resource
        self.givers = givers
        self.names = names
        """The names of the givers, in their order."""
        self.missing = missing
        """What was missing, in words."""


class HiddenError(NotFoundError):
    """The resource exists, but the caller may not see it. It reads exactly like `NotFoundError`."""

    def __init__(self, error: NotFoundError, *, action: str, resource: str) -> None:
        super().__init__(error.message, error.hint)
        self.action = action
        self.resource = resource


class UnauthorizedError(LakeholdError):
    """The request has no authentication, or its secret is not valid (any more)."""

    code = "unauthorized"
    status = 401


class ThrottledError(LakeholdError):
    """Too many attempts were made; it may be tried again later."""

    code = "too_many_attempts"
    status = 429
    retryable = True

    def __init__(self, message: str, hint: str, *, wait: int) -> None:
        super().__init__(message, hint)
        self.wait = wait
        """In how many seconds it may be tried again."""
