"""A template and its values as a response; and where to go after an action."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from fastapi import Request, Response
from fastapi.responses import HTMLResponse

from lakehold.api.http.dependencies import current_context, get_platform
from lakehold.web import csrf, flashes
from lakehold.web.flashes import Flash
from lakehold.web.navigation import Around
from lakehold.web.templates import Here, Templates

THEME = "lakehold_theme"
THEMES = ("system", "light", "dark")
_WORTH_PACKING = 1_000
_IN_PATHS = "/:@!$&'()*+,;=~"
_IN_ADDRESSES = "/?#&=%:+,;@!$'()*[]~"


@dataclass(frozen=True, slots=True)
class Web:
    """What all pages of an application share."""

    templates: Templates
    around: Callable[[Request], Around]
    """What is around a page whose endpoint does not say it: error pages above all."""


def web_of(request: Request) -> Web:
    """The web app of this application."""
    web: Web = request.app.state.web
    return web


def page(
    request: Request,
    template: str,
    values: dict[str, object] | None = None,
    *,
    around: Around | None = None,
    status: int = 200,
) -> Response:
    """Make a page."""
    web = web_of(request)
    here = _here(request, web.around(request) if around is None else around)
    body = web.templates.render(template, here, values or {}).encode()
    headers = {"Cache-Control": "no-store", "Vary": "Accept-Encoding, Cookie, HX-Request"}
    if len(body) > _WORTH_PACKING and "gzip" in request.headers.get("accept-encoding", ""):
        body = gzip.compress(body, 4, mtime=0)
        headers["Content-Encoding"] = "gzip"
    response = HTMLResponse(body, status, headers)
    csrf.remember(request, response)
    flashes.forget(request, response)
    return response


def go(request: Request, to: str, flash: Flash | None = None) -> Response:
    """Send the browser on after an action, with something to say."""
    to = quote(to, safe=_IN_ADDRESSES)
    if request.headers.get("hx-request"):
        response = Response(status_code=204, headers={"HX-Redirect": to})
    else:
        response = Response(status_code=303, headers={"Location": to})
    if flash is not None:
        flashes.say(request, response, flash)
    return response


def address_of(request: Request) -> str:
    """The path with its query."""
    query = request.url.query
    return quote(request.url.path, safe=_IN_PATHS) + (f"?{query}" if query else "")


def own_address(address: str) -> str:
    """An address to go back to, if it is one of ours; home otherwise."""
    parts = urlsplit(address)
    ours = not parts.scheme and not parts.netloc and address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if ours and address.isprintable() else "/"


def _here(request: Request, around: Around) -> Here:
    theme, ctx = request.cookies.get(THEME, ""), current_context(request)
    return Here(
        path=request.url.path,
        address=address_of(request),
        around=around,
        current=around.current(request.url.path),
        theme=theme if theme in THEMES else "system",
        csrf=csrf.token(request),
        now=get_platform(request).clock(),
        flash=flashes.heard(request),
        policy=ctx.view.policy if ctx else None,
    )
