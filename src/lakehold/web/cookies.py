"""Cookies with safe attributes, and the flash message that the page after an action displays."""

import base64
import binascii
import json
from dataclasses import asdict, dataclass

from fastapi import Request, Response

from lakehold.api.http.dependencies import get_platform

YEAR = 365 * 24 * 3600


def set_cookie(request: Request, response: Response, name: str, value: str, seconds: int | None = None) -> None:
    """Set a cookie; without a lifetime it ends with the browser session."""
    response.set_cookie(
        name, value, max_age=seconds, path="/", httponly=True, samesite="lax", secure=is_secure(request)
    )


def delete_cookie(request: Request, response: Response, name: str) -> None:
    """Delete a cookie."""
    response.delete_cookie(name, path="/", httponly=True, samesite="lax", secure=is_secure(request))


def is_secure(request: Request) -> bool:
    """Whether users reach the app over TLS: this request does, or the configured base URL does."""
    return request.url.scheme == "https" or get_platform(request).settings.base_url.startswith("https:")


FLASH_COOKIE = "lakehold_flash"
_FLASH_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Flash:
    """A message for the next page, with an optional URL that takes a POST to undo the action."""

    text: str
    tone: str = "good"
    undo: str = ""


def set_flash(request: Request, response: Response, flash: Flash) -> None:
    """Store a message in a signed cookie for the next page."""
    text = base64.urlsafe_b64encode(json.dumps(asdict(flash)).encode()).decode()
    set_cookie(
        request, response, FLASH_COOKIE, f"{text}.{get_platform(request).keys.seal(_signed_text(text))}", _FLASH_SECONDS
    )


def read_flash(request: Request) -> Flash | None:
    """Read the stored message; None if there is none or its signature is not valid."""
    text, _, seal = request.cookies.get(FLASH_COOKIE, "").partition(".")
    if not text or not get_platform(request).keys.is_sealed(_signed_text(text), seal):
        return None
    try:
        return Flash(**json.loads(base64.urlsafe_b64decode(text)))
    except (binascii.Error, ValueError, TypeError):
        return None


def delete_flash(request: Request, response: Response) -> None:
    """Delete the message once a page has displayed it."""
    if FLASH_COOKIE in request.cookies:
        delete_cookie(request, response, FLASH_COOKIE)


def _signed_text(text: str) -> str:
    return f"flash {text}"
