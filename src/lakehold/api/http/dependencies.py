"""FastAPI dependencies: the request context of an endpoint, and the platform.

An endpoint declares `ReadContext`, `WriteContext` or `CreateContext` and gets a `RequestContext`. The dependency
itself returns a `PendingRequest`; the route (see `routing`) turns it into a `RequestContext` in the thread that runs
the endpoint, so that authentication, the work itself and the commit are one trip into a thread and one transaction.
An endpoint that waits for a worker between two transactions declares none, and runs each by itself:
`read_transaction(request).run(...)`.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, TypeVar

from fastapi import Depends, Header, Request
from fastapi.requests import HTTPConnection

from lakehold.api.http.authentication import RequestCredentials, authenticate, read_credentials
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.database import Transaction
from lakehold.kit.errors import BusyError, ForbiddenError

T = TypeVar("T")

_MAX_ATTEMPTS = 5
_FIRST_WAIT = 0.01
_ENDS_IMPERSONATION = {("DELETE", "/api/v1/view-as"), ("POST", "/view-as/end")}
_CONTEXT_KEY = "lakehold.work"
_CALLER_KEY = "lakehold.caller"


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """A request that has not been authenticated yet."""

    request: Request
    credentials: RequestCredentials
    writes: bool
    key: str = ""
    """The Idempotency-Key, if there is one."""
    body: bytes = b""
    """The request body, if there is a key: the same key must come with the same body."""

    def run(self, do: Callable[[RequestContext], T]) -> T:
        """Authenticate the caller and call `do` in a transaction that is committed before this returns."""

        def with_context(ctx: RequestContext) -> T:
            self.request.scope[_CONTEXT_KEY] = ctx
            try:
                return do(ctx)
            finally:
                del self.request.scope[_CONTEXT_KEY]

        return retry_when_busy(lambda: self._run_write(with_context) if self.writes else self._run_read(with_context))

    def _run_read(self, do: Callable[[RequestContext], T]) -> T:
        platform = get_platform(self.request)
        caller: Caller | None = None
        try:
            with platform.database.read() as transaction:
                caller = self._authenticate(transaction)
                return do(RequestContext(platform.access.session(transaction, caller.tenant), caller, platform.keys))
        except (DeniedError, HiddenError) as error:
            # After the transaction, not in it: who waits for a second connection while holding one may wait for ever.
            if caller is not None:
                platform.audit_denial(caller, error)
            raise

    def _run_write(self, do: Callable[[RequestContext], T]) -> T:
        platform = get_platform(self.request)
        with platform.database.read() as transaction:
            caller = self._authenticate(transaction)
        # Ending the impersonation is the one change that an impersonator can make. The services check this too.
        if caller.impersonator and (self.request.method, self.request.url.path) not in _ENDS_IMPERSONATION:
            raise ForbiddenError("Viewing as somebody else only reads.", "Stop viewing as them to change anything.")
        with platform.write(caller) as ctx:
            # The write lock may have taken long: the credentials may be revoked since.
            self._authenticate(ctx.session.transaction)
            return do(ctx)

    def _authenticate(self, transaction: Transaction) -> Caller:
        caller = self.request.scope[_CALLER_KEY] = authenticate(self.request, transaction, self.credentials)
        return caller


def retry_when_busy(do: Callable[[], T]) -> T:
    """Call `do` again, as a whole, if another transaction came first."""
    for attempt in range(_MAX_ATTEMPTS - 1):
        try:
            return do()
        except BusyError:
            time.sleep(_FIRST_WAIT * 2**attempt * (0.5 + random.random()))  # noqa: S311 - only spreads the load
    return do()


def get_platform(request: HTTPConnection) -> Platform:
    """Return the platform that this application serves."""
    platform: Platform = request.app.state.platform
    return platform


def is_secure(request: HTTPConnection) -> bool:
    """Whether users reach the app over TLS: this request does, or the configured base URL does."""
    return request.url.scheme == "https" or get_platform(request).settings.base_url.startswith("https:")


def current_context(request: Request) -> RequestContext | None:
    """Return the request context while the request is being answered, else None."""
    ctx: RequestContext | None = request.scope.get(_CONTEXT_KEY)
    return ctx


def current_caller(request: Request) -> Caller | None:
    """Return the caller, once the request has been authenticated."""
    caller: Caller | None = request.scope.get(_CALLER_KEY)
    return caller


async def _platform_dependency(request: Request) -> Platform:
    return get_platform(request)


def read_transaction(request: Request) -> PendingRequest:
    """Return a runner for a read-only transaction of its own, as the caller."""
    return PendingRequest(request, read_credentials(request), writes=False)


def write_transaction(request: Request) -> PendingRequest:
    """Return a runner for a writing transaction of its own, as the caller."""
    return PendingRequest(request, read_credentials(request), writes=True)


async def _pending_read(request: Request) -> PendingRequest:
    return read_transaction(request)


async def _pending_write(request: Request) -> PendingRequest:
    return write_transaction(request)


async def _pending_form(request: Request) -> PendingRequest:
    return PendingRequest(request, read_credentials(request), writes=request.method == "POST")


async def _pending_create(
    request: Request,
    idempotency_key: Annotated[
        str | None,
        Header(
            min_length=1,
            max_length=200,
            pattern=r"^[\x21-\x7e]+$",
            description="Any text of your own. Sent again with the same body within 24 hours, it gets the same answer,"
            " and nothing is created twice.",
            examples=["4b0a9c1e"],
        ),
    ] = None,
) -> PendingRequest:
    pending = write_transaction(request)
    return pending if idempotency_key is None else replace(pending, key=idempotency_key, body=await request.body())


CurrentPlatform = Annotated[Platform, Depends(_platform_dependency)]
"""The platform, for example for endpoints without sign-in."""
ReadContext = Annotated[RequestContext, Depends(_pending_read)]
"""The caller's context in a read-only transaction."""
WriteContext = Annotated[RequestContext, Depends(_pending_write)]
"""The caller's context in a writing transaction."""
FormContext = Annotated[RequestContext, Depends(_pending_form)]
"""A `WriteContext` for POST and a `ReadContext` for GET, for a page that shows a form and receives it."""
CreateContext = Annotated[RequestContext, Depends(_pending_create)]
"""A `WriteContext` for an endpoint that creates something: with an Idempotency-Key it is created once."""

CONTEXT_DEPENDENCIES = (_pending_read, _pending_write, _pending_form, _pending_create)
