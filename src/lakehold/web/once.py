"""A secret that is shown once: a token, a link. What made it sends the browser on to a page that shows it, so that who
loads that page anew makes no second one.

On its way it is in a cookie that only we can open, only for who made it, and only for a moment: in no address, in no
table, in no log. The page that shows it takes the cookie back.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, get_platform
from lakehold.directory.caller import Caller
from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.errors import InvalidInputError
from lakehold.web import cookies, pages
from lakehold.web.navigation import Crumb
from lakehold.web.routes import router

ADDRESS, COOKIE = "/shown-once", "lakehold_once"
_SECONDS = 120

routes = router(ADDRESS)


@dataclass(frozen=True, slots=True)
class Secret:
    """What is shown, and what is said about it."""

    title: str
    label: str
    secret: str
    text: str
    until: Moment
    back: str
    hint: str = "It is shown here once, and nobody can look it up again."
    mail: Sequence[str] = ()
    """Where another one is made and mailed instead, and for what purpose; nothing if it cannot be."""


def show(request: Request, caller: Caller, secret: Secret) -> Response:
    """Go to the page that shows it."""
    response = pages.go(request, ADDRESS)
    platform = get_platform(request)
    told = [*_whose(caller), platform.clock() + _SECONDS * SECOND, asdict(secret)]
    cookies.put(request, response, COOKIE, platform.keys.encrypt(json.dumps(told)), _SECONDS)
    return response


@routes.get("")
def shown_once(request: Request, ctx: ReadContext) -> Response:
    """The secret; who comes again is told that it is gone."""
    secret = _opened(request, ctx.caller)
    crumbs = [Crumb(ctx.view.names.get(ctx.view.resource(ctx.caller.tenant)) or "", "/")]
    crumbs.append(Crumb(secret.title if secret else "Shown once"))
    response = pages.page(request, "once.html", {"crumbs": crumbs, "secret": secret})
    if COOKIE in request.cookies:
        cookies.drop(request, response, COOKIE)
    return response


def _opened(request: Request, caller: Caller) -> Secret | None:
    platform = get_platform(request)
    try:
        told = json.loads(platform.keys.decrypt(request.cookies.get(COOKIE, "")))
    except (InvalidInputError, ValueError):
        return None
    *whose, until, values = told
    return Secret(**values) if whose == _whose(caller) and platform.clock() < until else None


def _whose(caller: Caller) -> list[str]:
    return [COOKIE, caller.tenant, caller.member, caller.sign_in_id]
