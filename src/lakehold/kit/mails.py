"""Sends mails: SMTP in the clear or with STARTTLS (`smtp://`), or inside TLS from the first byte (`smtps://`)."""

from __future__ import annotations

import smtplib
import ssl
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate, parseaddr
from urllib.parse import unquote, urlsplit

from lakehold.kit.errors import InvalidInputError

_PATIENCE = 30
_PORTS = {"smtp": 587, "smtps": 465}
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True)
class Post:
    """Where mails go."""

    scheme: str
    host: str
    port: int
    user: str
    password: str

    @classmethod
    def at(cls, url: str) -> Post:
        """By its address: smtp://user:password@host:port."""
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
        """Hand it over; an error if the other side does not take it."""
        with self._connected() as connection:
            if self.scheme == "smtp":
                self._secured(connection)
            if self.user:
                connection.login(self.user, self.password)
            connection.send_message(message)

    def _connected(self) -> smtplib.SMTP:
        if self.scheme == "smtps":
            context = ssl.create_default_context()
            return smtplib.SMTP_SSL(self.host, self.port, timeout=_PATIENCE, context=context)
        return smtplib.SMTP(self.host, self.port, timeout=_PATIENCE)

    def _secured(self, connection: smtplib.SMTP) -> None:
        """Neither a password nor a link that signs somebody in goes over a network in the clear."""
        connection.ehlo_or_helo_if_needed()
        if connection.has_extn("starttls"):
            connection.starttls(context=ssl.create_default_context())
            connection.ehlo()
        elif self.host not in _LOOPBACK:
            raise smtplib.SMTPNotSupportedError(f"{self.host} does not offer STARTTLS.")


def message(sender: str, receiver: str, subject: str, body: str, *, uid: str) -> EmailMessage:
    """A mail as text. The same mail has the same id when it is sent again, so that receivers can tell."""
    made = EmailMessage()
    made["From"] = sender
    made["To"] = receiver
    made["Subject"] = subject
    made["Date"] = formatdate()
    made["Message-ID"] = f"<{uid}@{parseaddr(sender)[1].rpartition('@')[2] or 'localhost'}>"
    made.set_content(body)
    return made
