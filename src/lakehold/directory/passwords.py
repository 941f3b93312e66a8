"""Validation, hashing (argon2id) and verification of passwords.

Verification takes the same time whether or not there is an account, so that timing reveals nothing.
"""

import secrets
import unicodedata
from functools import lru_cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import fold_name

MIN_LENGTH, MAX_LENGTH = 10, 1_000

hasher = PasswordHasher()
"""The library's own, present-day parameters. Tests put a cheap one in its place."""


def valid_password(password: object, *not_like: str) -> str:
    """Return the password, or refuse one that is too weak for somebody with these names and addresses."""
    if not isinstance(password, str):
        raise InvalidInputError("A password is a text.", f"Use {MIN_LENGTH} characters or more.")
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        raise InvalidInputError(
            f"A password has {MIN_LENGTH} to {MAX_LENGTH:,} characters.", "Several words together make a good one."
        )
    if any(unicodedata.category(letter) in {"Cc", "Cs"} for letter in password):
        raise InvalidInputError("The password has a control character.", "Use characters that can be typed.")
    if fold_name(password).strip() in {"", *(fold_name(text).strip() for text in not_like)}:
        raise InvalidInputError("The password is your name or e-mail address.", "Choose one that cannot be guessed.")
    if len(set(password)) == 1:
        raise InvalidInputError("The password repeats one character.", "Choose one that is hard to guess.")
    return password


def hash_password(password: str) -> str:
    """Return the hash of a password."""
    return hasher.hash(_bytes(password))


def verify_password(password_hash: str, password: str) -> bool:
    """Whether this is the password. Without a hash one comparison with a dummy hash is made all the same."""
    dummy = _dummy_hash(hasher)
    try:
        hasher.verify(password_hash or dummy, _bytes(password))
    except (VerificationError, InvalidHashError):
        return False
    return bool(password_hash)


@lru_cache(maxsize=4)
def _dummy_hash(password_hasher: PasswordHasher) -> str:
    return password_hasher.hash(secrets.token_hex())


def _bytes(password: str) -> bytes:
    """Return the bytes to be hashed, in normal form so that keyboards do not matter."""
    return unicodedata.normalize("NFKC", password[: MAX_LENGTH + 1]).encode(errors="surrogatepass")
