"""What is said after an action, on the page that follows. Kept in a sealed cookie, and shown once."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import asdict, dataclass

from fastapi import Request, Response

from lakehold.api.http.dependencies import get_platform
from lakehold.web import cookies

COOKIE = "lakehold_flash"
_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Flash:
    """One message. It can offer to take back what was done: an address that takes a POST."""

    text: str
    tone: str = "good"
    undo: str = ""


def say(request: Request, response: Response, flash: Flash) -> None:
    """Let the next page say this."""
    text = base64.urlsafe_b64encode(json.dumps(asdict(flash)).encode()).decode()
    cookies.put(request, response, COOKIE, f"{text}.{get_platform(request).keys.seal(_sealed(text))}", _SECONDS)


def heard(request: Request) -> Flash | None:
    """What the last action said. A message that we did not write is none."""
    text, _, seal = request.cookies.get(COOKIE, "").partition(".")
    if not text or not get_platform(request).keys.is_sealed(_sealed(text), seal):
        return None
    try:
        return Flash(**json.loads(base64.urlsafe_b64decode(text)))
    except (binascii.Error, ValueError, TypeError):
        return None


def forget(request: Request, response: Response) -> None:
    """It has been said."""
    if COOKIE in request.cookies:
        cookies.drop(request, response, COOKIE)


def _sealed(text: str) -> str:
    return f"flash {text}"
