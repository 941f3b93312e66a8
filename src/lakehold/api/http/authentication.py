"""Identifies the caller by API token or session cookie.

This is the one place where the HTTP frame uses the directory's sign-in. Both lookups run inside the transaction of
the request, so that a revoked token or sign-in is rejected by the very next request.
"""

from dataclasses import dataclass, replace
from typing import Protocol

from fastapi import Request

from lakehold.api.http.problems import CsrfError
from lakehold.catalog import impersonation
from lakehold.directory import sign_ins, tokens
from lakehold.directory.caller import Caller
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.kit.database import Transaction
from lakehold.kit.keys import KeyRing

SESSION_COOKIE = "lakehold_session"
CSRF_HEADER = "x-csrf-token"
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class RequestCredentials:
    """The credentials and origin of a request."""

    token: str
    cookie: str
    csrf: str
    safe: bool
    """Whether the method only reads."""
    request: str
    address: str


class Authenticator(Protocol):
    """Finds the caller of a token or a session."""

    def authenticate_token(self, platform: Platform, transaction: Transaction, secret: str) -> Caller | None:
        """Return the member of this API token, narrowed as the token is; None if it is not valid."""

    def authenticate_session(self, platform: Platform, transaction: Transaction, secret: str) -> Caller | None:
        """Return the member of this sign-in; None if it is not valid."""


class DirectoryAuthenticator:
    """Authenticates with the directory's tokens and sign-ins."""

    authenticate_token = staticmethod(tokens.find_caller)
    authenticate_session = staticmethod(sign_ins.find_caller)


def read_credentials(request: Request) -> RequestCredentials:
    """Read the credentials of a request; raise if there are none."""
    headers = request.headers
    scheme, _, token = headers.get("authorization", "").partition(" ")
    token = token.strip() if scheme.lower() == "bearer" else ""
    cookie = "" if token else request.cookies.get(SESSION_COOKIE, "")
    if not token and not cookie:
        raise UnauthorizedError("Nobody is signed in.", "Send an API token: Authorization: Bearer lh_….")
    client = request.scope.get("client")
    return RequestCredentials(
        token=token,
        cookie=cookie,
        csrf=headers.get(CSRF_HEADER, ""),
        safe=request.method in _SAFE_METHODS,
        request=request.scope.get("lakehold.request_id", ""),
        address=client[0] if client else "",
    )


def authenticate(
    authenticator: Authenticator, platform: Platform, transaction: Transaction, credentials: RequestCredentials
) -> Caller:
    """Return the caller, or raise an error that does not say what was wrong with the credentials."""
    if credentials.token:
        found = authenticator.authenticate_token(platform, transaction, credentials.token)
    else:
        found = authenticator.authenticate_session(platform, transaction, credentials.cookie)
        seal = f"csrf {credentials.cookie}"
        if found is not None and not credentials.safe and not platform.keys.is_sealed(seal, credentials.csrf):
            raise CsrfError("This change did not come from our own pages.", "Reload the page and try again.")
    if found is None:
        raise UnauthorizedError("This token or sign-in is invalid or has expired.", "Sign in, or create a new token.")
    return impersonation.apply_impersonation(
        platform, transaction, replace(found, request=credentials.request, address=credentials.address)
    )


def make_csrf_token(keys: KeyRing, cookie: str) -> str:
    """Return the CSRF token of a session, which only our own pages can know."""
    return keys.seal(f"csrf {cookie}")
