"""How our cookies are set: out of reach of scripts and of other sites, and over TLS only where there is."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http.dependencies import get_platform

YEAR = 365 * 24 * 3600


def put(request: Request, response: Response, name: str, value: str, seconds: int | None = None) -> None:
    """Set a cookie; without a time it goes when the browser is closed."""
    response.set_cookie(
        name, value, max_age=seconds, path="/", httponly=True, samesite="lax", secure=is_secure(request)
    )


def drop(request: Request, response: Response, name: str) -> None:
    """Take a cookie back."""
    response.delete_cookie(name, path="/", httponly=True, samesite="lax", secure=is_secure(request))


def is_secure(request: Request) -> bool:
    """Whether people reach us over TLS: this request did, or the address that we were told does."""
    return request.url.scheme == "https" or get_platform(request).settings.base_url.startswith("https:")
