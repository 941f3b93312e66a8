"""Protects forms against cross-site request forgery.

Every form carries a token derived from the session cookie, or from a visit cookie before sign-in. The token is
encrypted anew for every page, so that the length of a compressed page reveals nothing about it. It also says to whom
the form was shown, and on which page: `form_drafts` leads back there. `routing` checks it once for every page that
changes something.
"""

import json
import secrets
from dataclasses import dataclass

from fastapi import Request, Response
from starlette.datastructures import MutableHeaders

from lakehold.api.http.authentication import CSRF_HEADER, SESSION_COOKIE, make_csrf_token
from lakehold.api.http.dependencies import current_caller, get_platform
from lakehold.api.http.problems import CsrfError
from lakehold.directory.caller import Caller
from lakehold.kit.errors import InvalidInputError
from lakehold.web import cookies

FIELD = "csrf_token"
VISIT_COOKIE = "lakehold_visit"
_NEW_VISIT = "lakehold.new_visit"
_SENT = "lakehold.form_token"
_OWN_FETCH_SITES = {"same-origin", "none", ""}
_BYTES = 32
_PURPOSE = "form"
_MAX_PAGE_LENGTH = 1_500


@dataclass(frozen=True, slots=True)
class FormToken:
    """The content of a form's token."""

    seal: str
    tenant: str
    member: str
    """Whom the form was shown to; empty for visitors and impersonators."""
    page: str
    """The address of the page with the form."""

    def is_of(self, caller: Caller) -> bool:
        """Whether the form was shown to this caller."""
        return (self.tenant, self.member) == (caller.tenant, caller.member) and not caller.impersonator


def form_token(request: Request, page: str) -> str:
    """Return the token for the forms of one response, which are on this page."""
    secret = _cookie_secret(request)
    if not secret:
        secret = request.scope[_NEW_VISIT] = request.scope.get(_NEW_VISIT) or secrets.token_urlsafe(_BYTES)
    keys, caller = get_platform(request).keys, current_caller(request)
    owner = [caller.tenant, caller.member] if caller and not caller.impersonator else ["", ""]
    short = page if len(page) <= _MAX_PAGE_LENGTH else page.partition("?")[0]
    return keys.encrypt(json.dumps([_PURPOSE, make_csrf_token(keys, secret), *owner, short]))


def set_visit_cookie(request: Request, response: Response) -> None:
    """Set the visit cookie if the token of this page began a new visit."""
    if secret := request.scope.get(_NEW_VISIT):
        cookies.set_cookie(request, response, VISIT_COOKIE, secret)


async def verify_token(request: Request) -> None:
    """Verify that a request carries the token of its cookie; raises `CsrfError` otherwise."""
    secret, text = _cookie_secret(request), request.headers.get(CSRF_HEADER, "")
    if not text:
        text = str((await request.form()).get(FIELD, ""))
    token = _decrypt(request, text) if request.headers.get("sec-fetch-site", "") in _OWN_FETCH_SITES else None
    request.scope[_SENT] = token
    if token is None or not secret or not get_platform(request).keys.is_sealed(f"csrf {secret}", token.seal):
        raise CsrfError("The form has expired.", "Reload the page and try again.")
    # The API's authentication checks the plain token again, in the header.
    MutableHeaders(raw=request.scope["headers"])[CSRF_HEADER] = token.seal
    vars(request).pop("_headers", None)


def sent_token(request: Request) -> FormToken | None:
    """Return the token that a form was sent with, if this installation made it, for whichever session."""
    token: FormToken | None = request.scope.get(_SENT)
    return token


def _decrypt(request: Request, text: str) -> FormToken | None:
    try:
        purpose, *values = json.loads(get_platform(request).keys.decrypt(text))
        return FormToken(*values) if purpose == _PURPOSE else None
    except (InvalidInputError, ValueError, TypeError):
        return None


def _cookie_secret(request: Request) -> str:
    return request.cookies.get(SESSION_COOKIE) or request.cookies.get(VISIT_COOKIE) or ""
