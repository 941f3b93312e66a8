"""What an endpoint does its work in: one transaction, of one caller, committed before anything is answered.

An endpoint asks for `Reading`, `Writing` or `Creating` and gets a `Work`. What the dependency really gives is `Asked`;
the route (see `routes`) turns it into a `Work` in the thread that runs the endpoint, so that finding out who calls, the
work itself and the commit are one trip into a thread and one transaction.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Depends, Header, Request

from lakehold.api.frame.callers import Callers, Shown, caller_of, shown_by
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import BusyError, ForbiddenError

T = TypeVar("T")

_TRIES = 5
_FIRST_WAIT = 0.01
_ENDS_VIEWING = {("DELETE", "/api/v1/view-as"), ("POST", "/view-as/end")}
_WORK = "lakehold.work"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that has not been let in yet."""

    request: Request
    shown: Shown
    writes: bool
    key: str = ""
    """The Idempotency-Key, if there is one."""
    body: bytes = b""
    """What was sent, if there is a key: the same key must come with the same body."""

    def run(self, do: Callable[[RequestContext], T]) -> T:
        """Let the caller in and do it, in a transaction that is committed before this returns."""

        def known(ctx: RequestContext) -> T:
            self.request.scope[_WORK] = ctx
            try:
                return do(ctx)
            finally:
                del self.request.scope[_WORK]

        return retried(lambda: self._written(known) if self.writes else self._read(known))

    def _read(self, do: Callable[[RequestContext], T]) -> T:
        platform, callers = house_of(self.request), callers_of(self.request)
        caller: Caller | None = None
        try:
            with platform.database.read() as transaction:
                caller = caller_of(callers, platform, transaction, self.shown)
                self._known(caller)
                return do(RequestContext(platform.access.session(transaction, caller.tenant), caller, platform.keys))
        except (DeniedError, HiddenError) as error:
            # After the transaction, not in it: who waits for a second connection while holding one may wait for ever.
            if caller is not None:
                platform.audit_denial(caller, error)
            raise

    def _written(self, do: Callable[[RequestContext], T]) -> T:
        platform, callers = house_of(self.request), callers_of(self.request)
        with platform.database.read() as transaction:
            caller = caller_of(callers, platform, transaction, self.shown)
        self._known(caller)
        self._refuse_viewer(caller)

        def still_theirs(ctx: RequestContext) -> T:
            # They may have waited long for their turn.
            caller_of(callers, platform, ctx.session.transaction, self.shown)
            return do(ctx)

        with platform.write(caller) as ctx:
            return still_theirs(ctx)

    def _refuse_viewer(self, caller: Caller) -> None:
        """Who looks with another's eyes changes nothing, but for ending that. The services ask too."""
        if caller.impersonator and (self.request.method, self.request.url.path) not in _ENDS_VIEWING:
            raise ForbiddenError("Viewing as somebody else only reads.", "Stop viewing as them to change anything.")

    def _known(self, caller: Caller) -> None:
        self.request.scope["lakehold.caller"] = caller


def retried(do: Callable[[], T]) -> T:
    """Do it again, all of it, if another transaction was first."""
    for attempt in range(_TRIES - 1):
        try:
            return do()
        except BusyError:
            time.sleep(_FIRST_WAIT * 2**attempt * (0.5 + random.random()))  # noqa: S311 - only spreads the load
    return do()


def house_of(request: Request) -> Platform:
    """The installation that this application serves."""
    platform: Platform = request.app.state.platform
    return platform


def work_of(request: Request) -> RequestContext | None:
    """The work that the request is answered in, while it lasts."""
    ctx: RequestContext | None = request.scope.get(_WORK)
    return ctx


def callers_of(request: Request) -> Callers:
    """Who knows people by what they show."""
    callers: Callers = request.app.state.callers
    return callers


async def _house(request: Request) -> Platform:
    return house_of(request)


async def _asked_to_read(request: Request) -> Asked:
    return Asked(request, shown_by(request), writes=False)


async def _asked_to_write(request: Request) -> Asked:
    return Asked(request, shown_by(request), writes=True)


async def _asked_to_create(
    request: Request,
    idempotency_key: Annotated[
        str | None,
        Header(
            min_length=1,
            max_length=200,
            pattern=r"^[\x21-\x7e]+$",
            description="Any text of your own. Sent again with the same body within 24 hours, it gets the same answer,"
            " and nothing is made twice.",
            examples=["4b0a9c1e"],
        ),
    ] = None,
) -> Asked:
    shown = shown_by(request)
    if idempotency_key is None:
        return Asked(request, shown, writes=True)
    return Asked(request, shown, writes=True, key=idempotency_key, body=await request.body())


House = Annotated[Platform, Depends(_house)]
"""The installation itself, for the few endpoints that nobody is signed in at."""
Reading = Annotated[RequestContext, Depends(_asked_to_read)]
"""The caller's questions."""
Writing = Annotated[RequestContext, Depends(_asked_to_write)]
"""The caller's questions and changes."""
Creating = Annotated[RequestContext, Depends(_asked_to_create)]
"""The same, for an endpoint that makes something: with an Idempotency-Key it makes it once."""

WORKS = (_asked_to_read, _asked_to_write, _asked_to_create)
