"""Passwords: which may be used, how they are kept (argon2id), and how one is compared.

Comparing takes the same time whether or not there is an account, so that nobody can find out by the clock.
"""

from __future__ import annotations

import secrets
import unicodedata
from functools import lru_cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import fold_name

SHORTEST, LONGEST = 10, 1_000

hasher = PasswordHasher()
"""The library's own, present-day parameters. Tests put a cheap one in its place."""


def valid(password: object, *not_like: str) -> str:
    """The password, if it may be used by somebody with these names and addresses."""
    if not isinstance(password, str):
        raise InvalidInputError("A password is a text.", f"Use {SHORTEST} characters or more.")
    if not SHORTEST <= len(password) <= LONGEST:
        raise InvalidInputError(
            f"A password has {SHORTEST} to {LONGEST:,} characters.", "Several words together make a good one."
        )
    if any(unicodedata.category(letter) in {"Cc", "Cs"} for letter in password):
        raise InvalidInputError("The password has a control character.", "Use characters that can be typed.")
    if fold_name(password).strip() in {"", *(fold_name(text).strip() for text in not_like)}:
        raise InvalidInputError("The password is your name or e-mail address.", "Choose one that cannot be guessed.")
    if len(set(password)) == 1:
        raise InvalidInputError("The password is one character again and again.", "Choose one that is hard to guess.")
    return password


def hashed(password: str) -> str:
    """The password as it is kept."""
    return hasher.hash(_bytes(password))


def matches(kept: str, password: str) -> bool:
    """Whether this is the password. One comparison is made in any case, with nobody's hash if there is none."""
    nobodys = _nobodys(hasher)
    try:
        hasher.verify(kept or nobodys, _bytes(password))
    except (VerificationError, InvalidHashError):
        return False
    return bool(kept)


def is_outdated(kept: str) -> bool:
    """Whether it was hashed with other parameters than are used today."""
    return hasher.check_needs_rehash(kept)


@lru_cache(maxsize=4)
def _nobodys(of: PasswordHasher) -> str:
    return of.hash(secrets.token_hex())


def _bytes(password: str) -> bytes:
    """The same characters, however a keyboard puts them together. What is no text at all matches nothing."""
    return unicodedata.normalize("NFKC", password[: LONGEST + 1]).encode(errors="surrogatepass")
