"""Identifies the caller by API token or session cookie.

This is the one place where the HTTP frame uses the directory's sign-in. Both lookups run inside the transaction of
the request, so that a revoked token or sign-in is rejected by the very next request.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from fastapi import Request

from lakehold.api.http.problems import CsrfError
from lakehold.catalog import impersonation, integration_reads
from lakehold.directory import sign_ins, tokens
from lakehold.directory.caller import Caller, ClientInfo
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.kit.database import Transaction
from lakehold.kit.keys import KeyRing

SESSION_COOKIE = "lakehold_session"
CSRF_HEADER = "x-csrf-token"
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class RequestCredentials:
    """The credentials of a request: an API token, or the cookie of a session."""

    token: str
    cookie: str
    csrf: str
    safe: bool
    """Whether the method only reads."""


Authenticator = Callable[[Platform, Transaction, RequestCredentials], Caller | None]
"""Finds the caller of credentials; None if they are not valid."""


def find_caller(platform: Platform, transaction: Transaction, credentials: RequestCredentials) -> Caller | None:
    """Find the member of an API token, narrowed as the token is, or of a sign-in."""
    if credentials.token:
        return tokens.find_caller(platform, transaction, credentials.token, integration_reads.find_token_scope)
    return sign_ins.find_caller(platform, transaction, credentials.cookie)


def read_credentials(request: Request) -> RequestCredentials:
    """Read the credentials of a request; raise if there are none."""
    headers = request.headers
    scheme, _, token = headers.get("authorization", "").partition(" ")
    token = token.strip() if scheme.lower() == "bearer" else ""
    cookie = "" if token else request.cookies.get(SESSION_COOKIE, "")
    if not token and not cookie:
        raise UnauthorizedError("Nobody is signed in.", "Send an API token: Authorization: Bearer lh_….")
    return RequestCredentials(token, cookie, headers.get(CSRF_HEADER, ""), request.method in _SAFE_METHODS)


def authenticate(request: Request, transaction: Transaction, credentials: RequestCredentials) -> Caller:
    """Return the caller, or raise an error that does not say what was wrong with the credentials."""
    platform: Platform = request.app.state.platform
    found: Caller | None = request.app.state.find_caller(platform, transaction, credentials)
    if found is None:
        raise UnauthorizedError("This token or sign-in is invalid or has expired.", "Sign in, or create a new token.")
    by_form = not credentials.token and not credentials.safe
    if by_form and not platform.keys.is_sealed(f"csrf {credentials.cookie}", credentials.csrf):
        raise CsrfError("This change did not come from our own pages.", "Reload the page and try again.")
    client = get_client_info(request)
    caller = replace(found, request=client.request, address=client.address)
    return impersonation.apply_impersonation(platform, transaction, caller)


def get_client_info(request: Request) -> ClientInfo:
    """Return the address, user agent and id of a request."""
    client = request.scope.get("client")
    agent = request.headers.get("user-agent", "").encode("ascii", "replace").decode()
    return ClientInfo(client[0] if client else "", agent, request.scope.get("lakehold.request_id", ""))


def make_csrf_token(keys: KeyRing, cookie: str) -> str:
    """Return the CSRF token of a session, which only our own pages can know."""
    return keys.seal(f"csrf {cookie}")
