"""A TCP proxy on a loopback address of its own, whose connections can be cut and held back."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Lock, Thread

_BLOCK = 65_536


@dataclass(slots=True)
class Proxy:
    """A proxy to a port of 127.0.0.1."""

    target: int
    listener: socket.socket
    open_: Event = field(default_factory=Event)
    """Clear while nothing passes."""
    moved: int = 0
    """How many bytes have passed upwards."""
    on_bytes: Callable[[int], None] = lambda _: None
    """Called with them, before the bytes pass."""
    _pairs: list[tuple[socket.socket, socket.socket]] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    @property
    def address(self) -> str:
        host, port = self.listener.getsockname()
        return f"{host}:{port}"

    def cut(self) -> None:
        """Cut all connections that are open now."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                client.close()
                continue
            with self._lock:
                self._pairs.append((client, server))
            Thread(target=self._pump, args=(client, server, True), daemon=True).start()
            Thread(target=self._pump, args=(server, client, False), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, upwards: bool) -> None:
        with suppress(OSError):
            while block := source.recv(_BLOCK):
                if upwards:
                    self.moved += len(block)
                    self.on_bytes(self.moved)
                    self.open_.wait()
                target.sendall(block)
        for end in (source, target):
            with suppress(OSError):
                end.close()


@contextmanager
def proxy_to(port: int) -> Iterator[Proxy]:
    """Open a proxy."""
    with socket.create_server(("127.0.0.2", 0)) as listener:
        found = Proxy(port, listener)
        found.open_.set()
        Thread(target=found.accept, daemon=True).start()
        yield found
        found.open_.set()
        found.cut()
