"""Secrets that are shown once (API tokens, sign-ins, links, invites, live destinations) and stored only as hashes.

`lh_4fK0aQx9Zb_…`: a prefix that people and secret scanners recognise; an id, which is no secret and names it in
lists and in the audit log; random characters; and a checksum, so that a typing error is found without the database.
"""

from __future__ import annotations

import hmac
import re
import secrets
import string
from dataclasses import dataclass, field
from hashlib import sha256
from zlib import crc32

TOKEN, SIGN_IN, LINK, INVITE, LIVE = "lh_", "lhs_", "lhl_", "lhi_", "lhp_"

_LETTERS = string.digits + string.ascii_letters
_ID, _RANDOM, _CHECK = 10, 32, 6
_PATTERN = re.compile(
    rf"(lh[slip]?_)([0-9A-Za-z]{{{_ID}}})_([0-9A-Za-z]{{{_RANDOM}}})([0-9A-Za-z]{{{_CHECK}}})", re.ASCII
)
# The secret of the first run: in no table, only signed.
_SETUP_SECRET = re.compile(r"(lhf_)[0-9a-f]{16,}", re.ASCII)


@dataclass(frozen=True, slots=True)
class NewSecret:
    """A new secret. The text is for its owner, the hash for the database."""

    id: str
    hash: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class PresentedSecret:
    """A secret that a client presents: looked up by its id, compared by its hash."""

    id: str
    hash: str

    def matches(self, stored_hash: str) -> bool:
        """Whether this is the secret with the stored hash."""
        return hmac.compare_digest(self.hash, stored_hash)


def generate(prefix: str, id_: str = "") -> NewSecret:
    """Generate a secret; with an id, as the replacement of the one that had it."""
    id_, random = id_ or _random_text(_ID), _random_text(_RANDOM)
    text = f"{prefix}{id_}_{random}{_checksum(f'{prefix}{id_}_{random}')}"
    return NewSecret(id_, _hash(text), text)


def parse(prefix: str, text: str) -> PresentedSecret | None:
    """Parse a presented secret; None if it cannot be one with this prefix."""
    found = _PATTERN.fullmatch(text)
    if found is None or found[1] != prefix or _checksum(text[:-_CHECK]) != found[4]:
        return None
    return PresentedSecret(found[2], _hash(text))


def redact(text: str) -> str:
    """Return the text with its secrets redacted, for logs. Their ids stay."""
    return _SETUP_SECRET.sub(r"\1…", _PATTERN.sub(r"\1\2_…", text))


def _random_text(length: int) -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(length))


def _checksum(text: str) -> str:
    rest, letters = crc32(text.encode()), ""
    for _ in range(_CHECK):
        rest, letter = divmod(rest, len(_LETTERS))
        letters += _LETTERS[letter]
    return letters


def _hash(text: str) -> str:
    # 190 random bits cannot be guessed at, so nothing slower than this is needed.
    return sha256(text.encode()).hexdigest()
