"""In and out: one browser has one sign-in at a time, and every way in ends like the others."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fastapi import Request, Response

from lakehold.api.directory.sign_in import authenticate_now
from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.api.http.dependencies import retry_when_busy
from lakehold.directory import accounts, sign_ins
from lakehold.directory.caller import ClientInfo
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.directory.sign_ins import CreatedSignIn
from lakehold.kit.clock import SECOND
from lakehold.kit.errors import NotFoundError
from lakehold.web import cookies, csrf, pages
from lakehold.web.cookies import Flash


@dataclass(frozen=True, slots=True)
class Guest:
    """Who is signed in at a page that does not need it."""

    tenant: str
    name: str
    email: str


def let_in(
    request: Request,
    platform: Platform,
    visit: ClientInfo,
    signed_in: CreatedSignIn,
    *,
    to: str,
    flash: Flash | None = None,
) -> Response:
    """Send somebody on who is signed in now. Whoever was signed in here before is no longer, and neither the visit nor
    what forms have shown of it is good for anything any more.
    """
    leave(request, platform, visit)
    response = pages.redirect(request, to, flash)
    seconds = max(0, signed_in.until - platform.clock()) // SECOND
    cookies.set_cookie(request, response, SESSION_COOKIE, signed_in.secret, seconds)
    cookies.delete_cookie(request, response, csrf.VISIT_COOKIE)
    return response


def leave(request: Request, platform: Platform, visit: ClientInfo) -> None:
    """End the sign-in of this browser, if there is one. While one looks with another's eyes, it is still one's own."""
    secret = request.cookies.get(SESSION_COOKIE, "")
    try:
        caller = sign_ins.authenticate(platform, secret)
    except UnauthorizedError:
        return
    themself = replace(caller, request=visit.request, address=visit.address)

    def end() -> None:
        with platform.write(themself) as ctx:
            sign_ins.end(ctx, caller.member, caller.sign_in_id)

    try:
        retry_when_busy(end)
    except NotFoundError:
        return  # it was ended meanwhile


def guest(request: Request, platform: Platform) -> Guest | None:
    """Who is signed in here, if anybody is."""
    try:
        caller = authenticate_now(request, platform)
    except UnauthorizedError:
        return None
    with platform.read(caller) as ctx:
        member = caller.impersonator or caller.member
        account = accounts.get(ctx, member)
        name = ctx.view.names.get(ctx.view.member(member)) or member
        return Guest(caller.tenant, name, account.email if account else "")
