"""`lakehold up`: runs a server, a worker and query workers as child processes, with one log and one Ctrl-C.

The supervisor opens the port and passes it to the server: while a server that died is restarted, requests wait instead
of being refused.
"""

import asyncio
import logging
import os
import signal
import socket
import ssl
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from lakehold import workspaces
from lakehold.catalog import credentials
from lakehold.directory import model_upgrade, tenants
from lakehold.directory.platform import Platform
from lakehold.kit import certificates, parent_watch
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.settings import Settings
from lakehold.lake import iceberg_catalog

_log = logging.getLogger("lakehold.processes")
_MIN_BACKOFF, _MAX_BACKOFF, _QUERY_WORKER_BACKOFF = 0.5, 30.0, 1.0
_STABLE_SECONDS = 60.0
"""The run time after which a child is restarted with short delays again."""


@dataclass(slots=True)
class ChildProcess:
    """A `lakehold` command in a process group of its own, which Ctrl-C reaches only through the supervisor."""

    verb: str
    arguments: Sequence[str] = ()
    inherited_fds: Sequence[int] = ()
    """File descriptors that it is given."""
    environment: Mapping[str, str] = field(default_factory=dict)
    log: IO[bytes] | None = None
    """The file of its output, if not our own output."""
    max_backoff: float = _MAX_BACKOFF
    process: asyncio.subprocess.Process | None = None
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def keep_running(self) -> None:
        """Run the process until `stop`; restart it with a growing delay if it dies before."""
        wait = _MIN_BACKOFF
        while not self._stopping.is_set():
            began = time.monotonic()
            code = await self._run()
            if self._stopping.is_set():
                return
            wait = _MIN_BACKOFF if time.monotonic() - began > _STABLE_SECONDS else wait
            reason = f"by {signal.Signals(-code).name}" if code < 0 else f"with code {code}"
            _log.warning("the %s ended (%s); it is started again in %.1f s", self.verb, reason, wait)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), wait)
            wait = min(2 * wait, self.max_backoff)

    async def _run(self) -> int:
        end, ours = os.pipe()
        with os.fdopen(ours, "wb"):
            with os.fdopen(end, "rb"):
                self.process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "lakehold.cli", self.verb, *self.arguments),
                    env={**os.environ, **self.environment, parent_watch.ENVIRONMENT_VARIABLE: str(end)},
                    pass_fds=(*self.inherited_fds, end),
                    start_new_session=True,
                    stdout=self.log,
                    stderr=self.log,
                )
            return await self.process.wait()

    def stop(self, *, at_once: bool) -> None:
        """Terminate the process and do not restart it; or kill it at once, with everything that it started."""
        self._stopping.set()
        if self.process is not None and self.process.returncode is None:
            os.killpg(self.process.pid, signal.SIGKILL) if at_once else self.process.terminate()


_BACKLOG = 2048
LOG_FILE = "lakehold.log"


def run_supervisor(
    settings: Settings, ready: Callable[[str], object], *, log: Path | None = None, more: Iterable[ChildProcess] = ()
) -> None:
    """Run all of them, and those that are given, until Ctrl-C; `ready` is called with the address when it answers.

    Their output goes to the log file if one is given, else to ours.
    """
    with open_listener(settings.host, settings.port) as listener, log.open("ab") if log else nullcontext() as file:
        asyncio.run(_supervise(settings, listener, ready, file, more))


def open_listener(host: str, port: int) -> socket.socket:
    """Return a socket that listens on the address."""
    try:
        (family, kind, number, _, where), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        raise InvalidInputError(
            f"The address {host!r} is not available on this machine.", "Correct LAKEHOLD_HOST."
        ) from None
    listener = socket.socket(family, kind, number)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(where)
    except OSError as error:
        listener.close()
        raise ConflictError(
            f"Cannot listen on port {port} of {host}: {error.strerror}.", "Stop what uses it, or set LAKEHOLD_PORT."
        ) from None
    listener.listen(_BACKLOG)
    listener.set_inheritable(True)
    return listener


async def _supervise(
    settings: Settings,
    listener: socket.socket,
    ready: Callable[[str], object],
    log: IO[bytes] | None,
    more: Iterable[ChildProcess],
) -> None:
    host, port = listener.getsockname()[:2]
    # The children get all settings of this process, wherever they came from.
    known = settings.environment() | {"LAKEHOLD_HOST": str(host), "LAKEHOLD_PORT": str(port)}
    file = listener.fileno()
    children = [
        ChildProcess("server", ("--socket", str(file)), (file,), environment=known, log=log),
        ChildProcess("worker", environment=known, log=log),
        *(
            # It ends whenever somebody's query does not, and queries wait for the next one.
            ChildProcess("query-worker", environment=known, log=log, max_backoff=_QUERY_WORKER_BACKOFF)
            for _ in range(settings.query_workers)
        ),
        *(replace(child, log=log) for child in more),
    ]
    stop_requested = False

    def stop() -> None:
        nonlocal stop_requested
        _log.info("stopping at once" if stop_requested else "stopping")
        for child in children:
            child.stop(at_once=stop_requested)
        stop_requested = True

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    address = settings.address or settings.url_of(str(host), port)
    waiting = asyncio.create_task(_wait_until_ready(settings, host, port, lambda: ready(address)))
    await asyncio.gather(*(child.keep_running() for child in children))
    waiting.cancel()


async def _wait_until_ready(settings: Settings, host: str, port: int, ready: Callable[[], object]) -> None:
    """Request the health endpoint once: the port is open already, so the response comes when the server is up."""
    reader, writer = await asyncio.open_connection(host, port, ssl=_own_tls() if settings.certificate else None)
    writer.write(f"GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    if b" 200 " in await reader.readline():
        ready()
    writer.close()


def _own_tls() -> ssl.SSLContext:
    """Return a context for the socket that this process opened itself, where only its own server answers."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def prepare_installation(settings: Settings) -> str:
    """Migrate the platform and create the key. Return the path of the first-run link if nobody has signed up yet."""
    if settings.certificate:
        certificates.refuse_unusable(settings.certificate, settings.certificate_key)
    with closing(Platform(settings)) as platform:
        model_upgrade.migrate(platform, workspaces.models())
        iceberg_catalog.refuse_foreign_warehouse(platform.settings)
        credentials.protect_headers(platform)
        _ = platform.keys
        return f"/first-run/{tenants.setup_secret(platform)}" if tenants.is_setup_open(platform) else ""
