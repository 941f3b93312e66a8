"""A change comes from our own pages, or not at all.

Every form carries a token that belongs to the cookie of the sign-in; before there is one, to a cookie of the visit. The
token is masked anew for every page, so that the length of a compressed page tells nothing about it. Checked once, for
every page that changes something, in `routes`: no page can forget it.
"""

from __future__ import annotations

import base64
import binascii
import secrets

from fastapi import Request, Response

from lakehold.api.http.authentication import CSRF_HEADER, SESSION_COOKIE, make_csrf_token
from lakehold.api.http.dependencies import get_platform
from lakehold.api.http.problems import CsrfError
from lakehold.web import cookies

FIELD = "csrf_token"
VISIT = "lakehold_visit"
_NEW = "lakehold.new_visit"
_OURS = {"same-origin", "none", ""}
_BYTES = 32


def token(request: Request) -> str:
    """The token for the forms of one page."""
    secret = _secret(request)
    if not secret:
        secret = request.scope[_NEW] = request.scope.get(_NEW) or secrets.token_urlsafe(_BYTES)
    return _masked(bytes.fromhex(make_csrf_token(get_platform(request).keys, secret)))


def remember(request: Request, response: Response) -> None:
    """Let the visit be known again, if the page's token began it."""
    if secret := request.scope.get(_NEW):
        cookies.put(request, response, VISIT, secret)


async def refuse_forged(request: Request) -> None:
    """Refuse a change that does not show the token of its cookie."""
    secret, shown = _secret(request), request.headers.get(CSRF_HEADER, "")
    if not shown:
        shown = str((await request.form()).get(FIELD, ""))
    seal = _unmasked(shown)
    ours = request.headers.get("sec-fetch-site", "") in _OURS
    if not ours or not secret or not get_platform(request).keys.is_sealed(f"csrf {secret}", seal):
        raise CsrfError("This form is too old, or did not come from our own pages.", "Open the page again and retry.")
    _tell_the_frame(request, seal)


def _tell_the_frame(request: Request, seal: str) -> None:
    """The frame looks for the plain token in a header, and checks it once more when it knows who calls."""
    name = CSRF_HEADER.encode()
    headers = request.scope["headers"]
    headers[:] = [(name, seal.encode()), *(header for header in headers if header[0] != name)]
    vars(request).pop("_headers", None)


def _secret(request: Request) -> str:
    return request.cookies.get(SESSION_COOKIE) or request.cookies.get(VISIT) or ""


def _masked(seal: bytes) -> str:
    pad = secrets.token_bytes(len(seal))
    return base64.urlsafe_b64encode(pad + _mixed(pad, seal)).decode()


def _unmasked(shown: str) -> str:
    try:
        both = base64.urlsafe_b64decode(shown.encode())
    except (binascii.Error, ValueError):
        return ""
    half = len(both) // 2
    return _mixed(both[:half], both[half:]).hex()


def _mixed(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=False))
