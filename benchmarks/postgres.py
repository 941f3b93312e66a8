"""A PostgreSQL of its own on a free loopback port, run by a user without privileges, gone at the end."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

_PATIENCE = 30


@contextmanager
def server(*more: str) -> Iterator[str]:
    """The URL of an empty database of a server with more settings."""
    user = _user()
    folder = Path(tempfile.mkdtemp(prefix="lakehold-bench-postgres-"))
    try:
        if user:
            shutil.chown(folder, user)
        data, port = folder / "data", _free_port()
        _run_quietly(
            [_bin() / "initdb", "-D", data, "-A", "trust", "-U", "bench", "-E", "UTF8", "--no-sync"], user, folder
        )
        options = ("listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", *more)
        command: list[str | Path] = [
            _bin() / "postgres",
            "-D",
            data,
            "-p",
            str(port),
            *(part for o in options for part in ("-c", o)),
        ]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(command, user=user, cwd=folder, stdout=log, stderr=log)  # noqa: S603 - ours
        try:
            _wait(process, port, folder / "log")
            yield f"postgresql://bench@127.0.0.1:{port}/postgres"
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(_PATIENCE)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _bin() -> Path:
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    if installed:
        return installed[-1].parent
    import pgserver  # noqa: PLC0415 - only where the machine has no PostgreSQL

    return Path(pgserver.__file__).parent / "pginstall" / "bin"


def _user() -> str | None:
    """PostgreSQL refuses to be run by root."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _run_quietly(command: list[str | Path], user: str | None, folder: Path) -> None:
    done = subprocess.run(  # noqa: S603 - as above
        command, user=user, cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode:
        raise RuntimeError(f"initdb failed: {done.stderr.strip()}")


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            psycopg.connect(host="127.0.0.1", port=port, user="bench", dbname="postgres", connect_timeout=2).close()
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"PostgreSQL did not start: {log.read_text()[-500:]}") from None
            time.sleep(0.05)
        else:
            return
