"""The keys of a gateway: it signs its calls with one pair (Ed25519), and secrets are encrypted for the other (X25519).

A call carries a token that names gateway and process, is signed, and is valid for some minutes around its time. Secrets
are encrypted with a key that is agreed on with a fresh pair for each message, so that only the gateway can decrypt
them, and for one work order only.
"""

import base64
import binascii
import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.errors import InvalidInputError

_LENGTH = 32
# Used once with each key, so it need not differ.
_NONCE = bytes(12)
TOKEN_LIFETIME = 120 * SECOND
"""How far the clocks of gateway and platform may differ, and how long a token can be used."""


@dataclass(frozen=True, slots=True)
class PublicKeys:
    """The public keys of a gateway, in URL-safe base64."""

    signing: str
    sealing: str

    @property
    def fingerprint(self) -> str:
        """Return a short digest by which people compare keys."""
        digest = sha256(f"{self.signing}\n{self.sealing}".encode()).hexdigest()[:16]
        return ":".join(digest[start : start + 4] for start in range(0, len(digest), 4))

    def verify(self, purpose: str, message: str, signature: str) -> bool:
        """Return whether the message was signed for this purpose with the private key."""
        try:
            key = Ed25519PublicKey.from_public_bytes(_decode(self.signing))
            key.verify(_decode(signature), _signed(purpose, message))
        except (InvalidSignature, ValueError):
            return False
        return True

    def need_valid(self) -> None:
        """Refuse texts that are no keys."""
        try:
            Ed25519PublicKey.from_public_bytes(_decode(self.signing))
            # A point with which no key can be agreed on is refused here, and not when something is to be encrypted.
            seal(self, "", "")
        except ValueError:
            raise InvalidInputError(
                "These are not the public keys of a gateway.", "Use `lakehold gateway register`."
            ) from None


@dataclass(frozen=True, slots=True)
class KeyPairs:
    """The private keys of a gateway. They never leave its machine."""

    signing: Ed25519PrivateKey = field(repr=False)
    sealing: X25519PrivateKey = field(repr=False)

    @classmethod
    def generate(cls) -> "KeyPairs":
        """Generate new keys."""
        return cls(Ed25519PrivateKey.generate(), X25519PrivateKey.generate())

    @classmethod
    def from_texts(cls, signing: str, sealing: str) -> "KeyPairs":
        """Restore the keys that `to_texts` returned."""
        return cls(
            Ed25519PrivateKey.from_private_bytes(_decode(signing)),
            X25519PrivateKey.from_private_bytes(_decode(sealing)),
        )

    def to_texts(self) -> dict[str, str]:
        """Return the private keys as texts, for a file that only its owner reads."""
        return {
            "signing": _encode(self.signing.private_bytes_raw()),
            "sealing": _encode(self.sealing.private_bytes_raw()),
        }

    @property
    def public(self) -> PublicKeys:
        """The public keys."""
        return PublicKeys(
            _encode(self.signing.public_key().public_bytes_raw()), _encode(self.sealing.public_key().public_bytes_raw())
        )

    def sign(self, purpose: str, message: str) -> str:
        """Sign a message for one purpose."""
        return _encode(self.signing.sign(_signed(purpose, message)))

    def prove(self, purpose: str, challenge: str) -> str:
        """Return a proof that the one who sends these public keys for a purpose has the private ones."""
        return self.sign(purpose, possession_message(self.public, challenge))

    def unseal(self, sealed: str, context: str) -> str:
        """Decrypt a text that was sealed for these keys in this context."""
        try:
            content = _decode(sealed)
            given = content[:_LENGTH]
            shared = self.sealing.exchange(X25519PublicKey.from_public_bytes(given))
            key = _derive_key(shared, given, self.sealing.public_key().public_bytes_raw())
            return AESGCM(key).decrypt(_NONCE, content[_LENGTH:], context.encode()).decode()
        except (InvalidTag, ValueError):
            raise InvalidInputError(
                "The secrets of the connection are encrypted for another key.", "Start it again."
            ) from None


def possession_message(keys: PublicKeys, challenge: str) -> str:
    """Return the message whose signature proves the possession of keys."""
    return f"{challenge}\n{keys.signing}\n{keys.sealing}"


def seal(keys: PublicKeys, text: str, context: str) -> str:
    """Encrypt a text so that only the gateway with these keys can decrypt it, in this context only."""
    receiver, own = X25519PublicKey.from_public_bytes(_decode(keys.sealing)), X25519PrivateKey.generate()
    given = own.public_key().public_bytes_raw()
    key = _derive_key(own.exchange(receiver), given, receiver.public_bytes_raw())
    return _encode(given + AESGCM(key).encrypt(_NONCE, text.encode(), context.encode()))


@dataclass(frozen=True, slots=True)
class GatewayToken:
    """The content of a call's token: the gateway with its tenant, its process, and the time."""

    tenant: str
    gateway: str
    instance: str
    """A random text that the process has chosen when it started."""
    at: Moment

    def sign(self, keys: KeyPairs) -> str:
        """Return the token as text."""
        payload = json.dumps([self.tenant, self.gateway, self.instance, self.at])
        return f"{_encode(payload.encode())}.{keys.sign('call', payload)}"


def parse_token(text: str) -> tuple[GatewayToken, str, str] | None:
    """Return what a token says, its payload and its signature, without verifying it; None if it is no token."""
    payload, _, signature = text.partition(".")
    try:
        values: Any = json.loads(_decode(payload))
        tenant, gateway, instance, at = values
    except (ValueError, TypeError):
        return None
    if not all(isinstance(each, str) for each in (tenant, gateway, instance)) or type(at) is not int:
        return None
    return GatewayToken(tenant, gateway, instance, at), _decode(payload).decode(), signature


def _signed(purpose: str, message: str) -> bytes:
    return f"lakehold gateway {purpose}\n{message}".encode()


def _derive_key(shared: bytes, given: bytes, receiver: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=_LENGTH, salt=given + receiver, info=b"lakehold gateway secrets").derive(
        shared
    )


def _encode(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode()


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text.encode(), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError) as error:
        raise ValueError(text) from error
