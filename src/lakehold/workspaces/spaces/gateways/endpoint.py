"""The endpoint that gateways dial: its address, its TLS certificate, and the service of a worker that runs it.

Its certificate is signed by an authority of its own, which a gateway gets when it is registered, and trusts alone.
Several workers of a machine share the port by turns: one that finds it taken waits until it is free.
"""

import fcntl
import logging
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlsplit

from lakehold.directory.platform import Platform
from lakehold.kit import certificates
from lakehold.kit.errors import ConflictError
from lakehold.kit.settings import Settings

_log = logging.getLogger("lakehold.gateways")
_RETRY_SECONDS = 2.0
_FOLDER = "gateways"


def address_of(settings: Settings) -> str:
    """Return the host and port that gateways dial, or refuse if there is none."""
    if settings.gateway_address:
        return settings.gateway_address
    if not settings.gateway_port:
        raise ConflictError("This installation takes no gateways.", "Its operator sets LAKEHOLD_GATEWAY_PORT.")
    host = urlsplit(settings.base_url).hostname or settings.host
    return f"[{host}]:{settings.gateway_port}" if ":" in host else f"{host}:{settings.gateway_port}"


def spool_folder(settings: Settings) -> Path:
    """Return the folder in which the parts of tables arrive."""
    return settings.data / _FOLDER / "parts"


def issue_certificate(settings: Settings) -> tuple[bytes, bytes, bytes]:
    """Return a new certificate of the endpoint with its key, and the authority that signed it, all as PEM."""
    folder = settings.data.absolute() / _FOLDER
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / "lock").open("w") as lock:
        # Another worker of this folder would write the same files.
        fcntl.flock(lock, fcntl.LOCK_EX)
        files = certificates.issue(folder / "tls", _names(settings))
        return files.server.read_bytes(), files.server_key.read_bytes(), files.authority.read_bytes()


def load_authority(settings: Settings) -> bytes:
    """Return the certificate of the authority, which is created if there is none."""
    file = certificates.CertificateFiles(settings.data.absolute() / _FOLDER / "tls").authority
    return file.read_bytes() if file.exists() else issue_certificate(settings)[2]


def _names(settings: Settings) -> list[str]:
    host = urlsplit(f"//{address_of(settings)}").hostname or ""
    return [name for name in (host, "localhost", "127.0.0.1", "::1") if name]


@contextmanager
def serve_gateways(platform: Platform) -> Iterator[None]:
    """Serve gateways in a thread until the end; do nothing if the installation takes none."""
    if not platform.settings.gateway_port:
        yield
        return
    stop = Event()
    thread = Thread(target=_serve, args=(platform, stop), daemon=True, name="gateways")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(_RETRY_SECONDS * 2)


def services(platform: Platform) -> list[AbstractContextManager[None]]:
    """Return the services of a worker."""
    return [serve_gateways(platform)]


def _serve(platform: Platform, stop: Event) -> None:
    from lakehold.workspaces.spaces.gateways.flight_server import GatewayFlightServer  # noqa: PLC0415 - 0.1 s of a start

    settings = platform.settings
    while not _is_free(settings.host, settings.gateway_port):
        if stop.wait(_RETRY_SECONDS):
            return
    certificate, key, _ = issue_certificate(settings)
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    location = f"grpc+tls://{host}:{settings.gateway_port}"
    with GatewayFlightServer(platform, location, (certificate, key)):
        _log.info("gateways are served on port %s", settings.gateway_port)
        stop.wait()


def _is_free(host: str, port: int) -> bool:
    """Return whether the port is free. Arrow itself would share it with another listener."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen()
        except OSError:
            return False
        return True
