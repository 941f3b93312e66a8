"""Protects forms against cross-site request forgery.

Every form carries a token derived from the session cookie, or from a visit cookie before sign-in. The token is masked
anew for every page, so that the length of a compressed page reveals nothing about it. `routing` checks it once for
every page that changes something.
"""

import base64
import binascii
import secrets

from fastapi import Request, Response
from starlette.datastructures import MutableHeaders

from lakehold.api.http.authentication import CSRF_HEADER, SESSION_COOKIE, make_csrf_token
from lakehold.api.http.dependencies import get_platform
from lakehold.api.http.problems import CsrfError
from lakehold.web import cookies

FIELD = "csrf_token"
VISIT_COOKIE = "lakehold_visit"
_NEW_VISIT = "lakehold.new_visit"
_OWN_FETCH_SITES = {"same-origin", "none", ""}
_BYTES = 32


def form_token(request: Request) -> str:
    """Return the token for the forms of one page."""
    secret = _cookie_secret(request)
    if not secret:
        secret = request.scope[_NEW_VISIT] = request.scope.get(_NEW_VISIT) or secrets.token_urlsafe(_BYTES)
    return _mask(bytes.fromhex(make_csrf_token(get_platform(request).keys, secret)))


def set_visit_cookie(request: Request, response: Response) -> None:
    """Set the visit cookie if the token of this page began a new visit."""
    if secret := request.scope.get(_NEW_VISIT):
        cookies.set_cookie(request, response, VISIT_COOKIE, secret)


async def verify_token(request: Request) -> None:
    """Verify that a request carries the token of its cookie; raises `CsrfError` otherwise."""
    secret, sent_token = _cookie_secret(request), request.headers.get(CSRF_HEADER, "")
    if not sent_token:
        sent_token = str((await request.form()).get(FIELD, ""))
    seal = _unmask(sent_token)
    ours = request.headers.get("sec-fetch-site", "") in _OWN_FETCH_SITES
    if not ours or not secret or not get_platform(request).keys.is_sealed(f"csrf {secret}", seal):
        raise CsrfError("The form has expired.", "Reload the page and try again.")
    _forward_plain_token(request, seal)


def _forward_plain_token(request: Request, seal: str) -> None:
    """Put the plain token into the request header, where the API's authentication checks it again."""
    MutableHeaders(raw=request.scope["headers"])[CSRF_HEADER] = seal
    vars(request).pop("_headers", None)


def _cookie_secret(request: Request) -> str:
    return request.cookies.get(SESSION_COOKIE) or request.cookies.get(VISIT_COOKIE) or ""


def _mask(seal: bytes) -> str:
    pad = secrets.token_bytes(len(seal))
    return base64.urlsafe_b64encode(pad + _xor(pad, seal)).decode()


def _unmask(masked: str) -> str:
    try:
        both = base64.urlsafe_b64decode(masked.encode())
    except (binascii.Error, ValueError):
        return ""
    half = len(both) // 2
    return _xor(both[:half], both[half:]).hex()


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=False))
