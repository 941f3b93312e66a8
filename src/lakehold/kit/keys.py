"""The key ring, which lies outside the database: it encrypts credentials and seals the audit log.

A ring holds the newest key first. New secrets are encrypted with the first; older ones can still be decrypted until
they have been encrypted again. The key file is created on the first run, readable by its owner only.
"""

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


class KeyRing:
    """A ring of encryption keys, the newest first."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = tuple(_decode_key(key) for key in keys)
        self._fernet = MultiFernet(
            [Fernet(base64.urlsafe_b64encode(_derive_key(key, b"secrets"))) for key in self._keys]
        )

    def encrypt(self, secret: str) -> str:
        """Encrypt a secret with the newest key."""
        return self._fernet.encrypt(secret.encode()).decode()

    def decrypt(self, encrypted: str) -> str:
        """Decrypt a secret with any key of the ring."""
        try:
            return self._fernet.decrypt(encrypted.encode()).decode()
        except InvalidToken:
            raise InvalidInputError(
                "A secret cannot be read with this installation's key.", "Give the key that it was written with."
            ) from None

    def reencrypt(self, encrypted: str) -> str:
        """Encrypt an already encrypted secret again, with the newest key."""
        return self._fernet.rotate(encrypted.encode()).decode()

    def seal(self, text: str) -> str:
        """Return an HMAC of the text with the newest key."""
        return _hmac(self._keys[0], text)

    def is_sealed(self, text: str, seal: str) -> bool:
        """Return whether the HMAC was made with any key of the ring."""
        # As bytes: a text that is not plain ASCII is wrong too, and not an error.
        given = seal.encode(errors="surrogatepass")
        return any(hmac.compare_digest(_hmac(key, text).encode(), given) for key in self._keys)


def generate_key() -> str:
    """Generate a random key."""
    return base64.urlsafe_b64encode(os.urandom(_LENGTH)).decode()


def load_keys(configured: str, file: Path) -> KeyRing:
    """Load the configured keys, or those of the key file, which is created if it is missing."""
    if configured:
        return KeyRing(configured.replace(",", " ").split())
    if not file.exists():
        _create_key_file(file)
    if file.stat().st_mode & 0o077:
        raise InvalidInputError(f"Others can read the key in {file.name}.", f"Close it: chmod 600 {file.name}.")
    return KeyRing(file.read_text().split())


def rotate_key_file(file: Path) -> KeyRing:
    """Add a new key to the file as the newest one."""
    load_keys("", file)
    _write_temporary_file([generate_key(), *file.read_text().split()], file).replace(file)
    return load_keys("", file)


def drop_old_keys(file: Path) -> None:
    """Remove all keys of the file but the newest. All secrets must have been encrypted with it before."""
    _write_temporary_file(file.read_text().split()[:1], file).replace(file)


def _create_key_file(file: Path) -> None:
    """Create the key file. Of several processes that find none, one creates it, and all use its key."""
    fresh = _write_temporary_file([generate_key()], file)
    try:
        os.link(fresh, file)
    except FileExistsError:
        pass
    finally:
        fresh.unlink()


def _write_temporary_file(keys: Sequence[str], file: Path) -> Path:
    """Write the keys to a file beside the key file, and flush it to disk, so that it can take its place at once."""
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f"{file.name}.{os.getpid()}.new")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OWNER_ONLY)
    with os.fdopen(handle, "w") as out:
        out.write("\n".join(keys) + "\n")
        out.flush()
        os.fsync(out.fileno())
    return fresh


def _decode_key(key: str) -> bytes:
    try:
        decoded = base64.urlsafe_b64decode(key.encode())
    except (binascii.Error, ValueError):
        decoded = b""
    if len(decoded) != _LENGTH:
        raise InvalidInputError("A key is 32 bytes in URL-safe base64.", "Create one: lakehold key new.")
    return decoded


def _derive_key(key: bytes, purpose: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=_LENGTH, salt=None, info=b"lakehold " + purpose).derive(key)


def _hmac(key: bytes, text: str) -> str:
    return hmac.new(_derive_key(key, b"seals"), text.encode(), sha256).hexdigest()
