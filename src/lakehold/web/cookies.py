"""Cookies with safe attributes, and the flash message that the page after an action displays."""

import json
from dataclasses import asdict, dataclass

from fastapi import Request, Response

from lakehold.api.http.dependencies import get_platform, is_secure
from lakehold.kit.errors import InvalidInputError

YEAR = 365 * 24 * 3600


def set_cookie(request: Request, response: Response, name: str, value: str, seconds: int | None = None) -> None:
    """Set a cookie; without a lifetime it ends with the browser session."""
    response.set_cookie(
        name, value, max_age=seconds, path="/", httponly=True, samesite="lax", secure=is_secure(request)
    )


def delete_cookie(request: Request, response: Response, name: str) -> None:
    """Delete a cookie."""
    response.delete_cookie(name, path="/", httponly=True, samesite="lax", secure=is_secure(request))


FLASH_COOKIE = "lakehold_flash"
_FLASH_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Flash:
    """A message for the next page, with an optional URL that takes a POST to undo the action."""

    text: str
    tone: str = "good"
    undo: str = ""


def set_flash(request: Request, response: Response, flash: Flash) -> None:
    """Store a message for the next page in an encrypted cookie, so that nobody else can write one."""
    value = get_platform(request).keys.encrypt(json.dumps(asdict(flash)))
    set_cookie(request, response, FLASH_COOKIE, value, _FLASH_SECONDS)


def read_flash(request: Request) -> Flash | None:
    """Read the stored message; None if there is none or it is not ours."""
    try:
        return Flash(**json.loads(get_platform(request).keys.decrypt(request.cookies.get(FLASH_COOKIE, ""))))
    except (InvalidInputError, ValueError, TypeError):
        return None


def delete_flash(request: Request, response: Response) -> None:
    """Delete the message once a page has displayed it."""
    if FLASH_COOKIE in request.cookies:
        delete_cookie(request, response, FLASH_COOKIE)
