"""A mail server for tests: it takes what it is given, or holds on to it for as long as the test wants."""

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
class Sink:
    """What was taken, and how the next mail is met."""

    port: int = 0
    refusing: int = 0
    """How many of the next mails are refused."""
    unknown: set[str] = field(default_factory=set)
    """Receivers that nobody here has heard of."""
    open: Event = field(default_factory=Event)
    """While it is not set, a mail that has come is neither taken nor refused."""
    come: SimpleQueue[str] = field(default_factory=SimpleQueue)
    """The receivers of mails, as soon as their text has come."""
    taken: SimpleQueue[EmailMessage] = field(default_factory=SimpleQueue)

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    def next(self) -> EmailMessage:
        """The next mail that is taken."""
        return self.taken.get(timeout=PATIENCE)


class _Talk(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        sink = cast("_Server", self.server).sink
        receiver = ""
        self._say("220 here")
        while line := self.rfile.readline():
            verb = line.decode().strip().upper()
            if verb.startswith("DATA"):
                self._say("354 go on")
                text = self._text()
                sink.come.put(receiver)
                sink.open.wait(PATIENCE)
                if sink.refusing:
                    sink.refusing -= 1
                    self._say("451 not now")
                    continue
                self._say("250 taken")
                sink.taken.put(BytesParser(policy=default).parsebytes(text))
            elif verb.startswith("QUIT"):
                self._say("221 bye")
                return
            else:
                receiver = verb.partition(":")[2] if verb.startswith("RCPT") else receiver
                known = not verb.startswith("RCPT") or receiver.strip("<>").lower() not in sink.unknown
                self._say("250 yes" if known else "550 no such person")

    def _say(self, words: str) -> None:
        self.wfile.write(f"{words}\r\n".encode())

    def _text(self) -> bytes:
        lines = []
        while (line := self.rfile.readline()) not in {b".\r\n", b""}:
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        return b"".join(lines)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        super().__init__(("127.0.0.1", 0), _Talk)

    def handle_error(self, *_: object) -> None:
        """A sender that was killed in the middle is what some tests are about."""


@contextmanager
def sink() -> Iterator[Sink]:
    """One that takes everything, on a port of its own."""
    made = Sink()
    made.open.set()
    with _Server(made) as server:
        made.port = server.server_address[1]
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield made
        finally:
            made.open.set()
            server.shutdown()
            thread.join()
