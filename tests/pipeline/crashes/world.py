"""All that pipelines reach: the shop, and a real database, webhook and mail server beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Protocol

import psycopg

from tests import postgres
from tests.pipeline.outward.receiver import Receiver
from tests.smtp import Sink
from tests.workspaces.lakehouse.moving import Moving


@dataclass
class World:
    """It, for one test."""

    here: Moving
    server: postgres.Server
    database: str
    hook: Receiver
    post: Sink
    mails: list[EmailMessage] = field(default_factory=list)

    @contextmanager
    def connected(self) -> Iterator[psycopg.Connection]:
        """To the database."""
        with psycopg.connect(self.server.url(self.database), autocommit=True) as connection:
            yield connection

    def taken(self) -> list[EmailMessage]:
        """All mails that have come by now."""
        while not self.post.taken.empty():
            self.mails.append(self.post.taken.get())
        return self.mails


class Piece(Protocol):
    """A pipeline that is killed at a point of its run."""

    @property
    def point(self) -> str:
        """Where."""

    @property
    def uid(self) -> str:
        """The pipeline, by what it does and where it is killed."""

    @property
    def after(self) -> object:
        """What is to be seen at its other end after one run."""

    def make(self, world: World) -> None:
        """Let it be there, with what its other end has before."""

    def seen(self, world: World) -> object:
        """What is seen at its other end now."""

    def between(self, seen: object) -> bool:
        """Whether this may be seen after the crash."""

    def left(self, world: World) -> list[str]:
        """What lies at its other end and is nobody's."""
