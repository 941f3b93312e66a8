"""Where a visitor comes from, and the cookie that they get once they are let in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import Depends, Request
from pydantic import Field, PrivateAttr
from starlette.responses import Response

from lakehold.api.frame.callers import COOKIE, caller_of, csrf_of, shown_by
from lakehold.api.frame.models import Answer, IdText, Time, time_of
from lakehold.api.frame.works import callers_of, house_of
from lakehold.directory.caller import Caller, ClientInfo
from lakehold.directory.platform import Platform
from lakehold.directory.sign_ins import CreatedSignIn
from lakehold.kit.clock import SECOND
from lakehold.kit.settings import Settings


async def _visit(request: Request) -> ClientInfo:
    client = request.scope.get("client")
    agent = request.headers.get("user-agent", "").encode("ascii", "replace").decode()
    return ClientInfo(client[0] if client else "", agent, request.scope.get("lakehold.request_id", ""))


Visiting = Annotated[ClientInfo, Depends(_visit)]
"""For endpoints at which nobody is signed in yet."""


class SignedInJson(Answer):
    """Somebody who is signed in now. The sign-in itself is in the cookie."""

    tenant: IdText
    member: IdText
    until: Time
    csrf: str = Field(examples=["5f0c3f1d…"], description="Send it as `X-CSRF-Token` with every change by cookie.")
    _cookie: str = PrivateAttr(default="")

    def headers(self) -> Mapping[str, str]:
        """The cookie goes before the body."""
        return {"set-cookie": self._cookie}


def let_in(platform: Platform, signed_in: CreatedSignIn) -> SignedInJson:
    """The answer to a sign-in."""
    told = SignedInJson(
        tenant=signed_in.tenant,
        member=signed_in.member,
        until=time_of(signed_in.until),
        csrf=csrf_of(platform.keys, signed_in.secret),
    )
    seconds = max(0, signed_in.until - platform.clock()) // SECOND
    told._cookie = cookie(platform.settings, signed_in.secret, seconds)  # noqa: SLF001 - it is this model's own
    return told


def cookie(settings: Settings, secret: str, seconds: int) -> str:
    """The header that sets the cookie, or with no secret takes it away. No script can read it, no other site send it
    along with a change.
    """
    made = Response()
    made.set_cookie(
        COOKIE, secret, max_age=seconds, httponly=True, samesite="lax", secure=settings.base_url.startswith("https:")
    )
    return made.headers["set-cookie"]


def caller_now(request: Request, platform: Platform) -> Caller:
    """Who calls an endpoint that takes its time outside of any transaction."""
    with platform.database.read() as transaction:
        return caller_of(callers_of(request), house_of(request), transaction, shown_by(request))
