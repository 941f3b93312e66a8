"""A PostgreSQL server for the tests, on a free loopback port, run by an unprivileged user and removed at the end."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import psycopg

USER = "lakehold"
_PATIENCE = 60
# Nothing here has to outlive a crash of the machine.
_SETTINGS = ("listen_addresses=127.0.0.1", "fsync=off", "synchronous_commit=off", "full_page_writes=off", "jit=off")


@dataclass(slots=True)
class Server:
    """A running PostgreSQL server. New databases are copies of a template, which takes some milliseconds."""

    port: int
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    _connection: psycopg.Connection | None = None
    """Kept open: to connect costs as much as to make a database."""

    def url(self, name: str) -> str:
        """Where the database of this name is found."""
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{name}"

    def create(self, template: str = "template1") -> str:
        """Make a database like the template, and return its name."""
        name = f"lakehold_{next(self._numbers)}"
        self._run(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def drop(self, name: str) -> None:
        """Remove a database that nobody uses any more."""
        self._run(f"DROP DATABASE {name} WITH (FORCE)")

    def rename(self, name: str) -> str:
        """Give a database another name, after ending its sessions, so that a thread that is late does not find it."""
        new = f"lakehold_{next(self._numbers)}"
        ended = f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{name}'"
        self._run(ended)
        self._run(f"ALTER DATABASE {name} RENAME TO {new}")
        return new

    def close(self) -> None:
        """Leave it."""
        if self._connection is not None:
            self._connection.close()

    def _run(self, statement: str) -> None:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(self.url("postgres"), autocommit=True)
        self._connection.execute(statement.encode())


@contextmanager
def server(*more: str) -> Iterator[Server]:
    """Start a server with more settings, and stop it at the end."""
    found, user = binaries(), _user()
    folder = Path(tempfile.mkdtemp(prefix="lakehold-test-"))
    data, port = folder / "data", _free_port()
    try:
        if user:
            shutil.chown(folder, user)
        _run([found / "initdb", "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync"], user, folder)
        options = " ".join(f"-c {setting}" for setting in (*_SETTINGS, *more, f"port={port}"))
        control: list[str | Path] = [
            found / "pg_ctl",
            "-D",
            data,
            "-w",
            "-t",
            str(_PATIENCE),
            "-l",
            folder / "log",
            "-s",
        ]
        _run([*control, "-o", f"{options} -c unix_socket_directories={folder}", "start"], user, folder)
        made = Server(port)
        try:
            yield made
        finally:
            made.close()
            # By the process id that this data folder holds.
            _run([*control, "-m", "immediate", "stop"], user, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def binaries() -> Path:
    """The folder of initdb and pg_ctl: the machine's, or those of the package pgserver."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    packaged = find_spec("pgserver")
    if packaged and packaged.origin:
        installed.insert(0, Path(packaged.origin).parent / "pginstall" / "bin" / "initdb")
    usable = [path.parent for path in installed if path.exists()]
    if not usable:
        raise RuntimeError(
            "The tests need a PostgreSQL and found none: install postgresql, or `pip install pgserver`, "
            "which brings one along."
        )
    return usable[-1]


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


def _run(command: Sequence[str | Path], user: str | None, folder: Path) -> None:
    # Output goes to a file: the server keeps a pipe open, and whoever reads it would wait for ever.
    with (folder / "out").open("w+") as out:
        done = subprocess.run(  # noqa: S603 - our own words, and the machine's own programs
            command, user=user, cwd=folder, stdout=out, stderr=out, timeout=2 * _PATIENCE, check=False
        )
        if done.returncode:
            out.seek(0)
            log = folder / "log"
            said = out.read() + (log.read_text(errors="replace")[-2_000:] if log.exists() else "")
            raise RuntimeError(f"{Path(command[0]).name} of the tests' PostgreSQL failed: {said.strip()}")
