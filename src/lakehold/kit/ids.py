"""Which texts may be an id or a name.

Ids are opaque: they are compared byte by byte, so that two that differ only by case or by unicode form stay two.
Names are for people: they are compared without case and in one unicode form.
"""

from __future__ import annotations

import unicodedata

from lakehold.kit.errors import InvalidInputError

MAX_ID = 200
MAX_NAME = 200
_SHOWN = 40


def quote(text: str) -> str:
    """The text as it may stand in a message: short, and with nothing unprintable."""
    cut = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    return repr(cut)


def valid_id(text: object, what: str = "id") -> str:
    """Return `text` if it may be an id, or say why not."""
    return _valid(text, what, MAX_ID)


def valid_name(text: object, what: str = "name") -> str:
    """Return `text` if it may be a name, or say why not."""
    if isinstance(text, str) and not text.strip():
        raise InvalidInputError(f"{_article(what)} must not be empty.", "Give it at least one visible character.")
    return _valid(text, what, MAX_NAME)


def folded(name: str) -> str:
    """The form in which names are compared, sorted and searched."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _valid(text: object, what: str, longest: int) -> str:
    if not isinstance(text, str):
        raise InvalidInputError(f"{_article(what)} is a text, not {type(text).__name__}.")
    if not text:
        raise InvalidInputError(f"{_article(what)} must not be empty.")
    if len(text) > longest:
        raise InvalidInputError(
            f"The {what} {quote(text)} has {len(text):,} characters.", f"Use {longest} at the most."
        )
    if text.isascii() and text.isprintable():
        return text
    if any(unicodedata.category(letter) in {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"} for letter in text):
        raise InvalidInputError(
            f"The {what} {quote(text)} has a control character or one that is no character at all.",
            "Use letters, digits, spaces and punctuation.",
        )
    return text


def _article(what: str) -> str:
    return f"{'An' if what[0] in 'aeiou' else 'A'} {what}"
