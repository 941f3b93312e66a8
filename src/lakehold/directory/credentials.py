"""Secrets that are shown once: API tokens, sign-ins, links, invites, live destinations. They are kept only as hashes.

`lh_4fK0aQx9Zb_…`: a prefix that people, and programs that look for leaked secrets, know it by; an id, which is no
secret and names it in lists and in the audit log; what is random; and a checksum, so that a slip of the pen is told
from a secret without asking the database.
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
_SHAPE = re.compile(
    rf"(lh[slip]?_)([0-9A-Za-z]{{{_ID}}})_([0-9A-Za-z]{{{_RANDOM}}})([0-9A-Za-z]{{{_CHECK}}})", re.ASCII
)
# What the first run is opened with: no row of any table, only a seal.
_SEALED = re.compile(r"(lhf_)[0-9a-f]{16,}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Fresh:
    """A secret that was just made. The text is for its owner, the hash for the database."""

    id: str
    hash: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Shown:
    """A secret that somebody shows: by its id it is looked up, by its hash it is compared."""

    id: str
    hash: str

    def is_kept_as(self, kept: str) -> bool:
        """Whether this is the secret of which that hash is kept."""
        return hmac.compare_digest(self.hash, kept)


def new(prefix: str, id_: str = "") -> Fresh:
    """A secret that nobody has yet; with an id, in place of the one that had it."""
    id_, random = id_ or _random(_ID), _random(_RANDOM)
    text = f"{prefix}{id_}_{random}{_checksum(f'{prefix}{id_}_{random}')}"
    return Fresh(id_, _hash(text), text)


def read(prefix: str, text: str) -> Shown | None:
    """What somebody shows, if it can be a secret of this sort at all."""
    found = _SHAPE.fullmatch(text)
    if found is None or found[1] != prefix or _checksum(text[:-_CHECK]) != found[4]:
        return None
    return Shown(found[2], _hash(text))


def hidden(text: str) -> str:
    """The text without the secrets in it, for logs: their ids stay."""
    return _SEALED.sub(r"\1…", _SHAPE.sub(r"\1\2_…", text))


def _random(length: int) -> str:
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
