"""Destinations: what they hold before, and what they must hold after one run."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.volumes import INTERNAL_FOLDER, Volume
from tests import postgres
from tests.lake.crashes.environment import CrashEnvironment
from tests.lake.crashes.table_cases import BOTH, MERGED, NEW, NEWS, OLD
from tests.lake.crashes.table_files import Rows
from tests.lake.shop import TENANT

RECEIVERS = ["ann@x.test", "ben@x.test"]
_FILE = "id,word\n2,B\n3,c\n"
_PIECE = "X-Piece"


@dataclass(frozen=True)
class IntoFile:
    """A file of a volume, which replaces one that is there."""

    point: str
    kind = "file"
    after = (("out.csv", _FILE),)

    @property
    def uid(self) -> str:
        return "_".join((self.kind, *self.point.split()))

    def make(self, world: CrashEnvironment) -> None:
        with world.here.shop.platform.access.write(TENANT) as session:
            session.store.create("lakehouse.volume", self.uid, uid=f"{self.uid}_volume", edges={"layer": "raw"})
        volume = self._volume(world)
        with volume.open_partial() as rough:
            rough.write(b"old")
            volume.publish(rough, "out.csv", replace=True)
        settings = {"to": "files", "name": "out", "kind": "csv"}
        world.here.destination(self.uid, settings, (NEWS,), volume=f"{self.uid}_volume")

    def seen(self, world: CrashEnvironment) -> object:
        volume = self._volume(world)
        return tuple((file.path, volume.path_on_disk(file.path).read_bytes().decode()) for file in volume.list_folder())

    def between(self, seen: object) -> bool:
        return seen in ((("out.csv", "old"),), self.after)

    def left(self, world: CrashEnvironment) -> list[str]:
        """What lies in the hidden folder beside receipts."""
        hidden = self._volume(world).folder / INTERNAL_FOLDER
        return [str(file) for file in hidden.rglob("*") if file.suffix != ".json"]

    def _volume(self, world: CrashEnvironment) -> Volume:
        with world.here.shop.platform.access.read(TENANT) as session:
            place = TableIdentifier(session.tenant, session.current_view().resource(f"{self.uid}_volume"))
        return Volume(world.here.shop.platform.settings, place)


@dataclass(frozen=True)
class IntoDatabase:
    """A table of a real PostgreSQL, one schema for each."""

    mode: str
    point: str
    kind = "database"

    @property
    def uid(self) -> str:
        return "_".join((self.kind, self.mode, *self.point.split()))

    @property
    def after(self) -> Rows:
        return {"append": list(BOTH), "overwrite": list(NEW), "upsert": list(MERGED)}[self.mode]

    def between(self, seen: object) -> bool:
        return seen in (OLD, self.after)

    def make(self, world: CrashEnvironment) -> None:
        with world.connect() as connection:
            connection.execute(f"CREATE SCHEMA {self.uid}".encode())
            key = "PRIMARY KEY" if self.mode == "upsert" else ""
            connection.execute(f"CREATE TABLE {self.uid}.words (id bigint {key}, word text)".encode())
            connection.execute(f"INSERT INTO {self.uid}.words VALUES (1, 'a'), (2, 'b')".encode())
        address = f"jdbc:postgresql://127.0.0.1:{world.server.port}/{world.database}"
        into = {"schema": self.uid, "table": "words", "mode": self.mode, "keys": ["id"]}
        there = {"to": "database", "address": address, "user": postgres.USER}
        world.here.destination(self.uid, {**there, **into}, (NEWS,))

    def seen(self, world: CrashEnvironment) -> Rows:
        with world.connect() as connection:
            found = connection.execute(f"SELECT id, word FROM {self.uid}.words".encode()).fetchall()
        return sorted(found, key=str)

    def left(self, world: CrashEnvironment) -> list[str]:
        """Tables that are nobody's."""
        with world.connect() as connection:
            found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", (self.uid,)).fetchall()
        return [name for (name,) in found if name not in {"words", "lakehold_deliveries"}]


@dataclass(frozen=True)
class ToHook:
    """A real receiver, of batches of one row."""

    point: str
    kind = "webhook"

    @property
    def uid(self) -> str:
        return "_".join((self.kind, *self.point.split()))

    @property
    def after(self) -> Rows:
        return list(NEW)

    def make(self, world: CrashEnvironment) -> None:
        settings = {"to": "webhook", "address": world.hook.url, "batch": 1, "headers": {_PIECE: self.uid}}
        world.here.destination(self.uid, settings, (NEWS,))

    def seen(self, world: CrashEnvironment) -> Rows:
        """What a receiver has that tells doubles by their key."""
        mine = [request for request in world.hook.requests if request.headers[_PIECE] == self.uid]
        by_key = {request.headers["Idempotency-Key"]: request.rows for request in mine}
        return [tuple(row.values()) for rows in by_key.values() for row in rows]

    def between(self, seen: object) -> bool:
        return seen in (NEW[:0], NEW[:1], NEW)

    def left(self, world: CrashEnvironment) -> list[str]:
        """Doubles that came in two shapes."""
        mine = [request for request in world.hook.requests if request.headers[_PIECE] == self.uid]
        first = {request.headers["Idempotency-Key"]: request.body for request in reversed(mine)}
        return [str(request.body) for request in mine if request.body != first[request.headers["Idempotency-Key"]]]


@dataclass(frozen=True)
class ToMail:
    """A real mail server, and two receivers."""

    point: str
    kind = "mail"
    after = tuple((receiver, _FILE) for receiver in RECEIVERS)

    @property
    def uid(self) -> str:
        return "_".join((self.kind, *self.point.split()))

    def make(self, world: CrashEnvironment) -> None:
        settings = {"to": "mail", "receivers": RECEIVERS, "subject": self.uid, "name": "out", "kind": "csv"}
        world.here.destination(self.uid, settings, (NEWS,))

    def seen(self, world: CrashEnvironment) -> object:
        """What a mail program has that tells doubles by their id."""
        mine = {mail["Message-ID"]: mail for mail in world.accepted_mails() if mail["Subject"] == self.uid}
        files = {key: next(mail.iter_attachments()).get_payload(decode=True) for key, mail in mine.items()}
        return tuple((mine[key]["To"], file.decode() if isinstance(file, bytes) else "") for key, file in files.items())

    def between(self, seen: object) -> bool:
        return seen in (self.after[:0], self.after[:1], self.after)

    def left(self, _world: CrashEnvironment) -> list[str]:
        """A mail leaves nothing where it is received."""
        return []
