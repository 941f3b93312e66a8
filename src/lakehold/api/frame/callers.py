"""Who calls, from what the request shows: an API token, or the cookie of a sign-in.

This is the one place where the frame meets the directory's sign-in. Both questions are asked inside the transaction of
the request, so that what was revoked is gone for the very next request.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from fastapi import Request

from lakehold.api.frame.errors import CsrfError
from lakehold.catalog import impersonation
from lakehold.directory.caller import Caller
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.kit.database import Transaction
from lakehold.kit.keys import KeyRing

COOKIE = "lakehold_session"
CSRF_HEADER = "x-csrf-token"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Shown:
    """What a request shows of who sends it."""

    token: str
    cookie: str
    csrf: str
    safe: bool
    """Whether the method only reads."""
    request: str
    address: str


class Callers(Protocol):
    """Knows people by what they show."""

    def of_token(self, platform: Platform, transaction: Transaction, secret: str) -> Caller | None:
        """The member whose API token this is, narrowed as it is; None if it is not valid (any more)."""

    def of_session(self, platform: Platform, transaction: Transaction, secret: str) -> Caller | None:
        """The member whose sign-in this is; None if it is not valid (any more)."""


class DirectoryCallers:
    """The directory's own tokens and sign-ins."""

    def of_token(self, platform: Platform, transaction: Transaction, secret: str) -> Caller | None:
        """By the API token."""
        from lakehold.directory import tokens  # noqa: PLC0415 - the seam to the directory

        found: Caller | None = tokens.find_caller(platform, transaction, secret)
        return found

    def of_session(self, platform: Platform, transaction: Transaction, secret: str) -> Caller | None:
        """By the sign-in."""
        from lakehold.directory import sign_ins  # noqa: PLC0415 - as above

        found: Caller | None = sign_ins.find_caller(platform, transaction, secret)
        return found


def shown_by(request: Request) -> Shown:
    """Read what the request shows; refuse one that shows nothing."""
    headers = request.headers
    scheme, _, token = headers.get("authorization", "").partition(" ")
    token = token.strip() if scheme.lower() == "bearer" else ""
    cookie = "" if token else request.cookies.get(COOKIE, "")
    if not token and not cookie:
        raise UnauthorizedError("Nobody is signed in.", "Send an API token: Authorization: Bearer lh_….")
    client = request.scope.get("client")
    return Shown(
        token=token,
        cookie=cookie,
        csrf=headers.get(CSRF_HEADER, ""),
        safe=request.method in _SAFE,
        request=request.scope.get("lakehold.request_id", ""),
        address=client[0] if client else "",
    )


def caller_of(callers: Callers, platform: Platform, transaction: Transaction, shown: Shown) -> Caller:
    """The caller, or a refusal that does not say what was wrong with what they showed."""
    if shown.token:
        found = callers.of_token(platform, transaction, shown.token)
    else:
        found = callers.of_session(platform, transaction, shown.cookie)
        if found is not None and not shown.safe:
            _refuse_forged(platform.keys, shown)
    if found is None:
        raise UnauthorizedError("This token or sign-in is not valid, or not any more.", "Sign in, or make a new token.")
    return impersonation.apply_impersonation(
        platform, transaction, replace(found, request=shown.request, address=shown.address)
    )


def csrf_of(keys: KeyRing, cookie: str) -> str:
    """What our own pages send along with a change, and no other page can know."""
    return keys.seal(f"csrf {cookie}")


def _refuse_forged(keys: KeyRing, shown: Shown) -> None:
    if not keys.is_sealed(f"csrf {shown.cookie}", shown.csrf):
        raise CsrfError("This change did not come from our own pages.", "Reload the page and try again.")
