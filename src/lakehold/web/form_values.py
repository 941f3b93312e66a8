"""Parsing of submitted form values, and the errors that a form is rendered again for."""

from __future__ import annotations

import re

from lakehold.catalog.resource_metadata import VersionConflictError
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.kit.errors import ConflictError, InvalidInputError

CORRECTABLE_ERRORS = (InvalidInputError, ConflictError, HiddenError, DeniedError, VersionConflictError)
"""Errors that the user can correct: the form is rendered again, with all that was filled in."""
_SEPARATORS = re.compile(r"[,\n]")
_INTEGER = re.compile(r"[0-9]{1,9}")


def parse_integer(text: str) -> int | None:
    """Parse a non-negative integer; return None if the text is not one or is too long."""
    return int(text) if _INTEGER.fullmatch(text) else None


def split_names(text: str) -> list[str]:
    """Split names at commas and line breaks."""
    return [part.strip() for part in _SEPARATORS.split(text) if part.strip()]
