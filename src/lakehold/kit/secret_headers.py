"""HTTP headers that hold secrets: their names stay in settings, their values are credentials."""

import re
from collections.abc import Mapping

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote

HEADERS = "headers"
"""The setting of a connector that has them."""
_NAME = re.compile(r"auth|token|key|secret|cookie|passw|credential|session|signature|jwt|api-?id", re.IGNORECASE)
_VALUE = re.compile(r"(?:bearer|basic|digest|token|apikey|negotiate|aws4-hmac-sha256)\s", re.IGNORECASE)


def credential_name(header: str) -> str:
    """Return the name of the credential with the value of a header."""
    return f"header:{header.lower()}"


def credential_names(settings: Mapping[str, object]) -> set[str]:
    """Return the names of the credentials that the headers of settings need."""
    headers = settings.get(HEADERS)
    return {credential_name(name) for name in headers} if isinstance(headers, Mapping) else set()


def split_secrets(settings: Mapping[str, object]) -> tuple[dict[str, object], dict[str, str]]:
    """Return the settings with the values of secret headers left empty, and these values as credentials."""
    headers = settings.get(HEADERS)
    if not isinstance(headers, Mapping):
        return dict(settings), {}
    secrets = {
        name: value
        for name, value in headers.items()
        if isinstance(value, str) and value and (_NAME.search(name) or _VALUE.match(value))
    }
    if not secrets:
        return dict(settings), {}
    masked = {name: "" if name in secrets else value for name, value in headers.items()}
    return {**settings, HEADERS: masked}, {credential_name(name): value for name, value in secrets.items()}


def fill_secrets(headers: Mapping[str, str], secrets: Mapping[str, str]) -> dict[str, str]:
    """Return the headers with the values that are credentials, or refuse if one of them is not set."""
    filled = {name: value or secrets.get(credential_name(name), "") for name, value in headers.items()}
    if missing := next((name for name, value in filled.items() if not value and _NAME.search(name)), ""):
        hint = f"Write its value into the settings, or set the credential {credential_name(missing)}."
        raise InvalidInputError(f"The header {quote(missing)} has no value.", hint, field=HEADERS)
    return filled
