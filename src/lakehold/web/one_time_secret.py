"""Shows a new secret, such as a token or a link, exactly once.

The endpoint that creates the secret redirects to a page that displays it, so that a reload creates no second one. On
the way the secret is in an encrypted, short-lived cookie bound to the caller: never in a URL, a table or a log. The
page deletes the cookie.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, get_platform
from lakehold.directory.caller import Caller
from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.errors import InvalidInputError
from lakehold.web import cookies, pages
from lakehold.web.routing import router

SECRET_URL, COOKIE = "/shown-once", "lakehold_once"
_SECONDS = 120

routes = router(SECRET_URL)


@dataclass(frozen=True, slots=True)
class OneTimeSecret:
    """A secret with the texts of its page."""

    title: str
    label: str
    secret: str
    text: str
    until: Moment
    back: str
    hint: str = "It is shown only once."
    mail: Sequence[str] = ()
    """Where another one is made and mailed instead, and for what purpose; nothing if it cannot be."""


def redirect_to_secret(request: Request, caller: Caller, secret: OneTimeSecret) -> Response:
    """Redirect to the page that displays the secret."""
    response = pages.redirect(request, SECRET_URL)
    platform = get_platform(request)
    payload = [*_owner_of(caller), platform.clock() + _SECONDS * SECOND, asdict(secret)]
    cookies.set_cookie(request, response, COOKIE, platform.keys.encrypt(json.dumps(payload)), _SECONDS)
    return response


@routes.get("")
def show_secret(request: Request, ctx: ReadContext) -> Response:
    """Render the secret, or a notice that it was displayed before."""
    response = pages.render(request, "once.html", {"secret": _read_cookie(request, ctx.caller)})
    if COOKIE in request.cookies:
        cookies.delete_cookie(request, response, COOKIE)
    return response


def _read_cookie(request: Request, caller: Caller) -> OneTimeSecret | None:
    platform = get_platform(request)
    try:
        *whose, until, values = json.loads(platform.keys.decrypt(request.cookies.get(COOKIE, "")))
    except (InvalidInputError, ValueError, TypeError):
        return None
    return OneTimeSecret(**values) if whose == _owner_of(caller) and platform.clock() < until else None


def _owner_of(caller: Caller) -> list[str]:
    return [COOKIE, caller.tenant, caller.member, caller.sign_in_id]
