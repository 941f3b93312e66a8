"""An own certificate authority, and certificates of the server that it signs, for networks without a public one."""

import os
import re
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote

_AUTHORITY_DAYS = 3650
_SERVER_DAYS = 397
"""As long as browsers accept."""
_CLOCK_SKEW = timedelta(minutes=5)
_MAX_NAME = 253
_HOST = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")


@dataclass(frozen=True, slots=True)
class CertificateFiles:
    """The PEM files of an authority and of a server."""

    folder: Path

    @property
    def authority(self) -> Path:
        """The certificate that clients have to trust."""
        return self.folder / "ca.pem"

    @property
    def authority_key(self) -> Path:
        """The key that signs certificates."""
        return self.folder / "ca-key.pem"

    @property
    def server(self) -> Path:
        """The certificate of the server."""
        return self.folder / "server.pem"

    @property
    def server_key(self) -> Path:
        """The key of the server."""
        return self.folder / "server-key.pem"


def issue(folder: Path, names: Iterable[str]) -> CertificateFiles:
    """Create a certificate of the server for host names and addresses, and the authority if there is none yet."""
    found = [_general_name(name) for name in dict.fromkeys(names)]
    files = CertificateFiles(folder)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not files.authority_key.exists():
        _create_authority(files)
    issuer, issuer_key = _load_authority(files)
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = (
        _builder("Lakehold server", issuer.subject, key, _SERVER_DAYS)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(found), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
        .sign(issuer_key, hashes.SHA256())
    )
    _write_key(files.server_key, key)
    _write(files.server, certificate.public_bytes(serialization.Encoding.PEM))
    return files


def refuse_unusable(certificate: str, key: str) -> None:
    """Refuse a certificate and key with which no server could start."""
    try:
        # Without an answer, OpenSSL would ask for the password of a key on the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password=lambda: "")
    except (OSError, ValueError) as error:  # an SSLError is an OSError
        reason = getattr(error, "strerror", "") or error
        raise InvalidInputError(
            f"The certificate {certificate} cannot be used with the key {key}: {reason}.",
            "Correct LAKEHOLD_CERTIFICATE and LAKEHOLD_CERTIFICATE_KEY: PEM files, the key without password.",
        ) from error


def _create_authority(files: CertificateFiles) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _subject("Lakehold private CA")
    usage = x509.KeyUsage(
        key_cert_sign=True, crl_sign=True, digital_signature=False, content_commitment=False, key_encipherment=False,
        data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip
    certificate = (
        _builder("Lakehold private CA", subject, key, _AUTHORITY_DAYS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    _write(files.authority, certificate.public_bytes(serialization.Encoding.PEM))
    _write_key(files.authority_key, key)


def _load_authority(files: CertificateFiles) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    try:
        certificate = x509.load_pem_x509_certificate(files.authority.read_bytes())
        key = serialization.load_pem_private_key(files.authority_key.read_bytes(), password=None)
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            f"The authority in {files.folder} cannot be read.", "Restore its files, or remove the folder to begin anew."
        ) from error
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != certificate.public_key():
        raise InvalidInputError(
            f"The key in {files.authority_key} does not belong to {files.authority.name}.", "Restore both files."
        )
    return certificate, key


def _builder(name: str, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, days: int) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_subject(name))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + timedelta(days=days))
    )


def _subject(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _general_name(name: str) -> x509.GeneralName:
    """Return the name of a host as certificates have it."""
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        pass
    try:
        encoded = name.encode("idna").decode()
    except UnicodeError:
        encoded = ""
    if not encoded or len(encoded) > _MAX_NAME or not _HOST.fullmatch(encoded):
        raise InvalidInputError(
            f"{quote(name)} is not a host name or address.", "Write it as clients do, without https:// and port."
        )
    return x509.DNSName(encoded)


def _write_key(file: Path, key: ec.EllipticCurvePrivateKey) -> None:
    plain = serialization.NoEncryption()
    _write(file, key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))


def _write(file: Path, content: bytes) -> None:
    """Replace a file at once, readable by its owner only."""
    temporary = file.with_suffix(".new")
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(content)
    temporary.replace(file)
