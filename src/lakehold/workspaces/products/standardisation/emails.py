"""Standardises e-mail addresses."""

import re

from lakehold.workspaces.products.standardisation.standard_value import StandardValue

_ADDRESS = re.compile(r"[^\s<>()\[\],;:\"@]+@[^\s<>()\[\],;:\"@]+")
_MAX = 320
"""The longest address there can be (RFC 3696)."""
_ENDS = ".'"


def standardise_email(text: str, country: str = "") -> StandardValue | None:  # noqa: ARG001 - all have a country
    """Return the first e-mail address of a text in small letters."""
    found = next((part for part in _split(text.lower()) if _ADDRESS.fullmatch(part)), None)
    if found is None or len(found) > _MAX:
        return None
    user, _, domain = found.partition("@")
    user, domain = user.strip(_ENDS), domain.strip(_ENDS)
    if not user or "." not in domain or ".." in domain:
        return None
    untagged = user.partition("+")[0] or user
    return StandardValue(f"{user}@{domain}", {"key": f"{untagged}@{domain}", "user": untagged, "domain": domain})


def _split(text: str) -> list[str]:
    """Return the parts of a text between the signs that stand around addresses, those with @ only."""
    return [part for part in re.split(r"[\s<>()\[\],;:\"]", text) if "@" in part]
