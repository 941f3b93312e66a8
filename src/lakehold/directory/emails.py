"""Which texts may be an e-mail address, and when two are the same."""

from __future__ import annotations

import re

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import fold_name, quote, valid_id

_LONGEST = 254
# Only what every mail server agrees on: whether somebody reads it there, no pattern can tell.
_SHAPE = re.compile(r"[^\s@<>(),;:\\\"\[\]]{1,64}@[^\s@<>(),;:\\\"\[\]]+")


def valid_email(text: object) -> str:
    """The address, if it can be one."""
    email = valid_id(text.strip() if isinstance(text, str) else text, "e-mail address")
    if len(email) > _LONGEST or not _SHAPE.fullmatch(email) or ".." in email or email.endswith("."):
        raise InvalidInputError(f"{quote(email)} is no e-mail address.", "Write it as name@example.org.")
    return email


def key(email: str) -> str:
    """The form in which addresses are compared. Mails always go to the address as it was given at first, so that one
    that only reads alike gets nothing.
    """
    return fold_name(email.strip())
