"""Mail delivery by SMTP: in the clear or with STARTTLS (`smtp://`), or inside TLS from the first byte (`smtps://`)."""

from __future__ import annotations

import smtplib
import ssl
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate, parseaddr
from urllib.parse import unquote, urlsplit

from lakehold.kit.errors import InvalidInputError

_TIMEOUT_SECONDS = 30
_PORTS = {"smtp": 587, "smtps": 465}
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """The address and the credentials of an SMTP server."""

    scheme: str
    host: str
    port: int
    user: str
    password: str

    @classmethod
    def from_url(cls, url: str) -> SmtpServer:
        """Parse a URL such as smtp://user:password@host:port."""
        hint = "Write smtp://user:password@host:port, or smtps://."
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise InvalidInputError("The address that mails go to cannot be read.", hint) from None
        if parts.scheme not in _PORTS or not parts.hostname:
            raise InvalidInputError("The address that mails go to cannot be used.", hint)
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        return cls(parts.scheme, parts.hostname, port or _PORTS[parts.scheme], user, password)

    def send(self, message: EmailMessage) -> None:
        """Send a mail; raise an error if the server does not accept it."""
        with self._connect() as connection:
            if self.scheme == "smtp":
                self._start_tls(connection)
            if self.user:
                connection.login(self.user, self.password)
            connection.send_message(message)

    def _connect(self) -> smtplib.SMTP:
        if self.scheme == "smtps":
            context = ssl.create_default_context()
            return smtplib.SMTP_SSL(self.host, self.port, timeout=_TIMEOUT_SECONDS, context=context)
        return smtplib.SMTP(self.host, self.port, timeout=_TIMEOUT_SECONDS)

    def _start_tls(self, connection: smtplib.SMTP) -> None:
        """Require TLS, except on the loopback interface: passwords and sign-in links never travel in the clear."""
        connection.ehlo_or_helo_if_needed()
        if connection.has_extn("starttls"):
            connection.starttls(context=ssl.create_default_context())
            connection.ehlo()
        elif self.host not in _LOOPBACK:
            raise smtplib.SMTPNotSupportedError(f"{self.host} does not offer STARTTLS.")


def build_message(sender: str, receiver: str, subject: str, body: str, *, uid: str) -> EmailMessage:
    """Build a plain-text mail. By its `Message-ID`, made from `uid`, receivers recognise a repetition."""
    mail = EmailMessage()
    mail["From"] = sender
    mail["To"] = receiver
    mail["Subject"] = subject
    mail["Date"] = formatdate()
    mail["Message-ID"] = f"<{uid}@{parseaddr(sender)[1].rpartition('@')[2] or 'localhost'}>"
    mail.set_content(body)
    return mail
