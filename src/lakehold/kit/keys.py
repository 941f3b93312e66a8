"""The key outside the database: it encrypts credentials, and seals what must not be altered.

A ring holds the newest key first. New secrets are written with the first; older ones can still be read until they have
been written anew. The file is made on the first run, for its owner's eyes alone.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from lakehold.kit.errors import InvalidInputError

_OWNER_ONLY = 0o600
_LENGTH = 32


class Keys:
    """A ring of keys, the newest first."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = tuple(_material(key) for key in keys)
        self._fernet = MultiFernet([Fernet(base64.urlsafe_b64encode(_derived(key, b"secrets"))) for key in self._keys])

    def encrypt(self, secret: str) -> str:
        """The secret as it may lie in the database."""
        return self._fernet.encrypt(secret.encode()).decode()

    def decrypt(self, kept: str) -> str:
        """The secret itself."""
        try:
            return self._fernet.decrypt(kept.encode()).decode()
        except InvalidToken:
            raise InvalidInputError(
                "A secret cannot be read with this installation's key.", "Give the key that it was written with."
            ) from None

    def renewed(self, kept: str) -> str:
        """The same secret, written with the newest key."""
        return self._fernet.rotate(kept.encode()).decode()

    def seal(self, text: str) -> str:
        """A proof that whoever wrote this had the newest key."""
        return _sealed(self._keys[0], text)

    def is_sealed(self, text: str, seal: str) -> bool:
        """Whether the proof is right, by any key of the ring."""
        # As bytes: a text that is not plain ASCII is wrong too, and not an error.
        given = seal.encode(errors="surrogatepass")
        return any(hmac.compare_digest(_sealed(key, text).encode(), given) for key in self._keys)


def new_key() -> str:
    """A key that nobody has yet."""
    return base64.urlsafe_b64encode(os.urandom(_LENGTH)).decode()


def ring(given: str, file: Path) -> Keys:
    """The keys that were given, or those of the file, which is made if there is none."""
    if given:
        return Keys(given.replace(",", " ").split())
    if not file.exists():
        _first(file)
    if file.stat().st_mode & 0o077:
        raise InvalidInputError(f"Others can read the key in {file.name}.", f"Close it: chmod 600 {file.name}.")
    return Keys(file.read_text().split())


def rotate(file: Path) -> Keys:
    """Put a new key before those of the file."""
    ring("", file)
    write([new_key(), *file.read_text().split()], file)
    return ring("", file)


def drop_older(file: Path) -> None:
    """Keep the newest key of the file alone. Everything must have been written with it before."""
    write(file.read_text().split()[:1], file)


def write(keys: Sequence[str], file: Path) -> None:
    """Replace the file as a whole, so that no moment leaves half a key."""
    _beside(keys, file).replace(file)


def _first(file: Path) -> None:
    """Make the file. Of several processes that find none, one does, and all use its key."""
    fresh = _beside([new_key()], file)
    try:
        os.link(fresh, file)
    except FileExistsError:
        pass
    finally:
        fresh.unlink()


def _beside(keys: Sequence[str], file: Path) -> Path:
    """The keys in a file of another name, safely on disk."""
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f"{file.name}.{os.getpid()}.new")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OWNER_ONLY)
    with os.fdopen(handle, "w") as out:
        out.write("\n".join(keys) + "\n")
        out.flush()
        os.fsync(out.fileno())
    return fresh


def _material(key: str) -> bytes:
    try:
        found = base64.urlsafe_b64decode(key.encode())
    except (binascii.Error, ValueError):
        found = b""
    if len(found) != _LENGTH:
        raise InvalidInputError("A key is 32 bytes in URL-safe base64.", "Make one: lakehold key new.")
    return found


def _derived(key: bytes, purpose: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=_LENGTH, salt=None, info=b"lakehold " + purpose).derive(key)


def _sealed(key: bytes, text: str) -> str:
    return hmac.new(_derived(key, b"seals"), text.encode(), sha256).hexdigest()
