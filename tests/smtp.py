"""A mail server for tests, which accepts mails or holds them back as long as a test wants."""

from __future__ import annotations

import socketserver
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default
from queue import SimpleQueue
from threading import Event, Thread
from typing import cast

PATIENCE = 60


@dataclass
class MailServer:
    """The state of the mail server, and the mails that it has accepted."""

    port: int = 0
    refusals_left: int = 0
    """How many of the next mails are refused."""
    unknown_recipients: set[str] = field(default_factory=set)
    """Receivers that nobody here has heard of."""
    accepting: Event = field(default_factory=Event)
    """While it is not set, a mail that has come is neither taken nor refused."""
    arrived: SimpleQueue[str] = field(default_factory=SimpleQueue)
    """The receivers of mails, as soon as their text has come."""
    accepted: SimpleQueue[EmailMessage] = field(default_factory=SimpleQueue)

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    def next_mail(self) -> EmailMessage:
        """The next mail that is taken."""
        return self.accepted.get(timeout=PATIENCE)


class _MailHandler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        sink = cast("_Server", self.server).sink
        receiver = ""
        self._reply("220 here")
        while line := self.rfile.readline():
            verb = line.decode().strip().upper()
            if verb.startswith("DATA"):
                self._reply("354 go on")
                text = self._text()
                sink.arrived.put(receiver)
                sink.accepting.wait(PATIENCE)
                if sink.refusals_left:
                    sink.refusals_left -= 1
                    self._reply("451 not now")
                    continue
                self._reply("250 taken")
                sink.accepted.put(BytesParser(policy=default).parsebytes(text))
            elif verb.startswith("QUIT"):
                self._reply("221 bye")
                return
            else:
                receiver = verb.partition(":")[2] if verb.startswith("RCPT") else receiver
                known = not verb.startswith("RCPT") or receiver.strip("<>").lower() not in sink.unknown_recipients
                self._reply("250 yes" if known else "550 no such person")

    def _reply(self, words: str) -> None:
        self.wfile.write(f"{words}\r\n".encode())

    def _text(self) -> bytes:
        lines = []
        while (line := self.rfile.readline()) not in {b".\r\n", b""}:
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        return b"".join(lines)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, sink: MailServer) -> None:
        self.sink = sink
        super().__init__(("127.0.0.1", 0), _MailHandler)

    def handle_error(self, *_: object) -> None:
        """A sender that was killed in the middle is what some tests are about."""


@contextmanager
def mail_server() -> Iterator[MailServer]:
    """Run a mail server that accepts everything, on a port of its own."""
    made = MailServer()
    made.accepting.set()
    with _Server(made) as server:
        made.port = server.server_address[1]
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield made
        finally:
            made.accepting.set()
            server.shutdown()
            thread.join()
