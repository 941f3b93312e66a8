"""Protects forms against cross-site request forgery.

Every form carries a token derived from the session cookie, or from a visit cookie before sign-in. The token is
encrypted anew for every page, so that the length of a compressed page reveals nothing about it. `routing` checks it
once for every page that changes something.
"""

import secrets

from fastapi import Request, Response
from starlette.datastructures import MutableHeaders

from lakehold.api.http.authentication import CSRF_HEADER, SESSION_COOKIE, make_csrf_token
from lakehold.api.http.dependencies import get_platform
from lakehold.api.http.problems import CsrfError
from lakehold.kit.errors import InvalidInputError
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
    keys = get_platform(request).keys
    return keys.encrypt(make_csrf_token(keys, secret))


def set_visit_cookie(request: Request, response: Response) -> None:
    """Set the visit cookie if the token of this page began a new visit."""
    if secret := request.scope.get(_NEW_VISIT):
        cookies.set_cookie(request, response, VISIT_COOKIE, secret)


async def verify_token(request: Request) -> None:
    """Verify that a request carries the token of its cookie; raises `CsrfError` otherwise."""
    secret, sent_token = _cookie_secret(request), request.headers.get(CSRF_HEADER, "")
    if not sent_token:
        sent_token = str((await request.form()).get(FIELD, ""))
    keys, ours = get_platform(request).keys, request.headers.get("sec-fetch-site", "") in _OWN_FETCH_SITES
    try:
        seal = keys.decrypt(sent_token)
    except (InvalidInputError, ValueError):
        seal = ""
    if not ours or not secret or not keys.is_sealed(f"csrf {secret}", seal):
        raise CsrfError("The form has expired.", "Reload the page and try again.")
    # The API's authentication checks the plain token again, in the header.
    MutableHeaders(raw=request.scope["headers"])[CSRF_HEADER] = seal
    vars(request).pop("_headers", None)


def _cookie_secret(request: Request) -> str:
    return request.cookies.get(SESSION_COOKIE) or request.cookies.get(VISIT_COOKIE) or ""
