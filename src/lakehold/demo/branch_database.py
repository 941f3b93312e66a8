"""The PostgreSQL of a branch, in which sales go on while the demo runs: `python -m lakehold.demo.branch_database PORT`.

It is a process of its own with a database of its own, both gone when it ends, and it ends with whoever has started it.
The program of PostgreSQL is that of the machine or of the package `pgserver`. It refuses to be run by root, so that
another user runs it then.
"""

from __future__ import annotations

import os
import pwd
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from threading import Event

import psycopg
from psycopg import sql

from lakehold.demo.web_shop_data import ITEMS
from lakehold.kit import parent_watch

HOST, USER, DATABASE = "127.0.0.1", "branch", "postgres"
PASSWORD_VARIABLE = "LAKEHOLD_BRANCH_PASSWORD"  # noqa: S105 - a name
READY = "the database of the branch is ready"
_PATIENCE = 60
_PAUSE_SECONDS, _MAX_SALES = 2.0, 20_000
"""A sale comes every two seconds, and no more of them after half a day."""
_FIRST_SALES, _FIRST_MINUTES = 600, 180
_TABLES = """
CREATE TABLE item (item_id int PRIMARY KEY, name text NOT NULL, price numeric(10, 2) NOT NULL, stock int NOT NULL,
    changed_at timestamptz NOT NULL);
CREATE TABLE sale (sale_id bigint PRIMARY KEY, item_id int NOT NULL REFERENCES item, pieces int NOT NULL,
    amount numeric(10, 2) NOT NULL, state text NOT NULL, sold_at timestamptz NOT NULL, changed_at timestamptz NOT NULL);
CREATE INDEX ON sale (changed_at);
CREATE SEQUENCE sale_number
"""
_SELL = """
WITH sold AS (
    UPDATE item SET stock = CASE WHEN stock < 10 THEN 200 ELSE stock - %(pieces)s END, changed_at = %(at)s
    WHERE item_id = %(item)s RETURNING price
)
INSERT INTO sale SELECT extract(epoch FROM %(at)s)::bigint * 100000 + nextval('sale_number'), %(item)s, %(pieces)s,
price * %(pieces)s, 'paid', %(at)s, %(at)s FROM sold
"""
_RETURN = """
UPDATE sale SET state = 'returned', changed_at = now()
WHERE sale_id = (SELECT sale_id FROM sale WHERE state = 'paid' ORDER BY random() LIMIT 1)
"""


def find_programs() -> Path | None:
    """Return the folder of PostgreSQL's programs; None if there are none."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    found = [each.parent for each in reversed(installed) if (each.parent / "postgres").exists()]
    if on_path := shutil.which("initdb"):
        found.append(Path(on_path).resolve().parent)
    package = find_spec("pgserver")
    if package and package.origin:
        found.append(Path(package.origin).parent / "pginstall" / "bin")
    return next((each for each in found if (each / "initdb").exists() and (each / "postgres").exists()), None)


def main(port: int) -> None:
    """Serve the database on this port of this machine until SIGTERM, while sales go on."""
    stop, programs = Event(), find_programs()
    if programs is None:
        raise SystemExit("There is no PostgreSQL here.")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    parent_watch.watch_parent()
    with _server(programs, port, os.environ[PASSWORD_VARIABLE], stop) as address:
        with psycopg.connect(address, autocommit=True) as connection:
            _fill(connection)
        print(READY, flush=True)  # noqa: T201 - whoever has started this process waits for it
        _sell_on(address, stop)
        stop.wait()


@contextmanager
def _server(programs: Path, port: int, password: str, stop: Event) -> Iterator[str]:
    """Run a server in a new folder; yield how to connect to it."""
    folder, user = Path(tempfile.mkdtemp(prefix="lakehold-branch-")), _unprivileged_user()
    try:
        secret, data = folder / "password", folder / "data"
        secret.write_text(password)
        secret.chmod(0o600)
        if user:
            shutil.chown(folder, user)
            shutil.chown(secret, user)
        cluster: list[str | Path] = [
            "-D",
            data,
            "-U",
            USER,
            "-A",
            "scram-sha-256",
            f"--pwfile={secret}",
            "-E",
            "UTF8",
            "--no-sync",
        ]
        subprocess.run(  # noqa: S603 - a program of this machine, and our own words
            [programs / "initdb", *cluster], user=user, cwd=folder, stdout=subprocess.DEVNULL, check=True
        )
        secret.unlink()
        settings = {
            "listen_addresses": HOST,
            "port": port,
            "unix_socket_directories": "",
            "fsync": "off",
            "max_connections": 20,
            "shared_buffers": "16MB",
        }
        given = [f"--{name}={value}" for name, value in settings.items()]
        process = subprocess.Popen([programs / "postgres", "-D", data, *given], user=user, cwd=folder)  # noqa: S603 - as above
        try:
            address = f"host={HOST} port={port} user={USER} password={password} dbname={DATABASE} connect_timeout=5"
            _wait(process, address, stop)
            yield address
        finally:
            # Fast: whoever is connected is cut off.
            process.send_signal(signal.SIGINT)
            process.wait(_PATIENCE)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged_user() -> str | None:
    """Return the user by whom a server is run; None for the own one."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def _wait(process: subprocess.Popen[bytes], address: str, stop: Event) -> None:
    end = time.monotonic() + _PATIENCE
    while not stop.is_set():
        try:
            psycopg.connect(address).close()
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > end:
                raise
            stop.wait(0.1)
        else:
            return
    raise SystemExit(0)


def _fill(connection: psycopg.Connection) -> None:
    """Create the tables with the sales of the last hours."""
    chance = random.Random(_FIRST_SALES)  # noqa: S311 - made up, and always the same
    connection.execute(_TABLES)
    items = list(enumerate(ITEMS.items(), 1))
    connection.cursor().executemany(
        "INSERT INTO item VALUES (%s, %s, %s, 200, now() - interval '1 day')",
        [(number, name, price) for number, (name, price) in items],
    )
    now = time.time()
    moments = [now - 60 * _FIRST_MINUTES * (1 - number / _FIRST_SALES) for number in range(_FIRST_SALES)]
    with connection.transaction():
        connection.cursor().executemany(_with_moment(_SELL), [_sale(chance, at) for at in moments])


def _with_moment(text: str) -> sql.SQL:
    return sql.SQL(text.replace("%(at)s", "to_timestamp(%(at)s)"))


def _sale(chance: random.Random, at: float) -> dict[str, object]:
    return {"item": 1 + chance.randrange(len(ITEMS)), "pieces": 1 + chance.randrange(4), "at": at}


def sell(connection: psycopg.Connection, sale: Mapping[str, object]) -> None:
    """Sell some pieces of an item at a moment, in seconds."""
    connection.execute(_with_moment(_SELL), sale)


def _sell_on(address: str, stop: Event) -> None:
    """Sell something every few seconds, and take some of it back."""
    chance = random.Random()  # noqa: S311 - as above
    with closing(psycopg.connect(address, autocommit=True)) as connection:
        for number in range(_MAX_SALES):
            if stop.wait(_PAUSE_SECONDS):
                return
            sell(connection, _sale(chance, time.time()))
            if number % 10 == 9:  # noqa: PLR2004 - every tenth
                connection.execute(_RETURN)


def command(port: int) -> Sequence[str]:
    """Return the command of the process."""
    return [sys.executable, "-m", "lakehold.demo.branch_database", str(port)]


if __name__ == "__main__":
    main(int(sys.argv[1]))
