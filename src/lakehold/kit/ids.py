"""Validation of ids and names.

Ids are opaque: they are compared byte by byte, so that two that differ only by case or by unicode form stay two.
Names are for people: they are compared without case and in one unicode form.
"""

import re
import unicodedata
from enum import StrEnum

from lakehold.kit.errors import InvalidInputError

MAX_ID = 200
MAX_NAME = 200
MAX_TABLE_NAME = 63
_MAX_QUOTED = 40
_TABLE_NAME = re.compile(rf"[a-z][a-z0-9_]{{0,{MAX_TABLE_NAME - 1}}}")


class NameScope(StrEnum):
    """The scope in which the names of a kind of resource are unique."""

    PARENT = "parent"
    WORKSPACE = "workspace"


def quote(text: str) -> str:
    """Quote a text for a message: short, and with nothing unprintable."""
    cut = text if len(text) <= _MAX_QUOTED else text[:_MAX_QUOTED] + "…"
    return repr(cut)


def cut_text(text: str, longest: int) -> str:
    """Return the beginning of a text, without a last word that would be cut, unless it is one word.

    What others wrote may be long and made to hold up a pattern, so that it is cut before any is used; and half of an
    address would not be recognised as one.
    """
    return text if len(text) <= longest else text[:longest].rpartition(" ")[0] or text[:longest]


def valid_id(text: object, what: str = "id") -> str:
    """Return `text` if it is a valid id; raise `InvalidInputError` otherwise."""
    return _validate(text, what, MAX_ID)


def valid_name(text: object, what: str = "name") -> str:
    """Return `text` if it is a valid name; raise `InvalidInputError` otherwise."""
    if isinstance(text, str) and not text.strip():
        raise InvalidInputError(f"{_article(what)} must not be empty.", "Give it at least one visible character.")
    return _validate(text, what, MAX_NAME)


def is_table_name(text: str) -> bool:
    """Return whether the text is a name that needs no quotes in SQL."""
    return _TABLE_NAME.fullmatch(text) is not None


def valid_table_name(text: str) -> str:
    """Return `text` if a table can have this name; raise `InvalidInputError` otherwise."""
    if not is_table_name(text):
        raise InvalidInputError(
            f"A table cannot be called {quote(text)}.",
            "Use small letters, digits and _, with a letter first, 63 at most.",
            field="table",
        )
    return text


def fold_name(name: str) -> str:
    """Return the form in which names are compared, sorted and searched."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _validate(text: object, what: str, longest: int) -> str:
    if not isinstance(text, str):
        raise InvalidInputError(f"{_article(what)} is a text, not {type(text).__name__}.")
    if not text:
        raise InvalidInputError(f"{_article(what)} must not be empty.")
    if len(text) > longest:
        raise InvalidInputError(f"The {what} {quote(text)} has {len(text):,} characters.", f"Use at most {longest}.")
    if text.isascii() and text.isprintable():
        return text
    if any(unicodedata.category(letter) in {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"} for letter in text):
        raise InvalidInputError(
            f"The {what} {quote(text)} has a control character or an invalid one.",
            "Use letters, digits, spaces and punctuation.",
        )
    return text


def _article(what: str) -> str:
    return f"{'An' if what[0] in 'aeiou' else 'A'} {what}"
