"""The environment of the pipelines: the shop, and a real database, webhook and mail server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Protocol

import psycopg

from tests import postgres
from tests.lake.destinations.receiver import Receiver
from tests.smtp import MailServer
from tests.workspaces.lakehouse.inline_runs import InlineRuns


@dataclass
class CrashEnvironment:
    """The environment of one test."""

    here: InlineRuns
    server: postgres.Server
    database: str
    hook: Receiver
    post: MailServer
    mails: list[EmailMessage] = field(default_factory=list)

    @contextmanager
    def connect(self) -> Iterator[psycopg.Connection]:
        """To the database."""
        with psycopg.connect(self.server.url(self.database), autocommit=True) as connection:
            yield connection

    def accepted_mails(self) -> list[EmailMessage]:
        """All mails that have come by now."""
        while not self.post.accepted.empty():
            self.mails.append(self.post.accepted.get())
        return self.mails


class KilledPipeline(Protocol):
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

    def make(self, world: CrashEnvironment) -> None:
        """Let it be there, with what its other end has before."""

    def seen(self, world: CrashEnvironment) -> object:
        """What is seen at its other end now."""

    def between(self, seen: object) -> bool:
        """Whether this may be seen after the crash."""

    def left(self, world: CrashEnvironment) -> list[str]:
        """What lies at its other end and is nobody's."""
