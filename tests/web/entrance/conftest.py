"""Installations to come to: an empty one, one that sends mails, one with two tenants."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from lakehold.directory import tenants
from lakehold.ledger import outbox
from lakehold.runs import outbox_delivery
from tests.smtp import Sink, sink
from tests.web.conftest import Open
from tests.web.demo import Shop, opened
from tests.web.visitors import visitors


@dataclass(frozen=True, slots=True)
class Empty(Shop):
    """Nobody has been here yet."""

    @property
    def path(self) -> str:
        """What `lakehold up` prints."""
        return f"/first-run/{tenants.setup_secret(self.platform)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mailing(Shop):
    """The company, with mails that really go out."""

    sink: Sink

    def next_link(self) -> str:
        """The path of the link in the next mail."""
        found = re.search(r"https?://\S+?(/\S+)", self.next_mail())
        assert found
        return found[1]

    def next_mail(self) -> str:
        """What the next mail says. It is sent as a worker sends it."""
        (mail,) = self.waiting()
        assert outbox_delivery.send(self.platform, mail.id, mail.tries) == ""
        outbox_delivery.record_result(self.platform, mail.id, mail.tries, "")
        return str(self.sink.next().get_content())

    def waiting(self) -> list[outbox.OutboxMessage]:
        """Mails that have not been sent yet."""
        with self.platform.database.read() as transaction:
            return outbox.due_messages(transaction, self.platform.clock())


@pytest.fixture
def empty(template_file: Path, tmp_path: Path) -> Iterator[Empty]:
    start = tmp_path / "start"
    start.mkdir()
    shutil.copy(template_file, start / "lakehold.sqlite")
    with opened(start, tmp_path / "empty") as found:
        yield Empty(found.platform, found.address, found.clients)


@pytest.fixture
def mailing(shop_folder: Path, tmp_path: Path) -> Iterator[Mailing]:
    with sink() as post, opened(shop_folder, tmp_path / "data", smtp=post.url) as found:
        yield Mailing(found.platform, found.address, found.clients, sink=post)


@pytest.fixture
def come(browser: Browser) -> Iterator[Open]:
    """Open a page of any of them as nobody: `come(empty, "/sign-in")`."""
    contexts = []

    def opened_at(there: Shop, path: str, **how: object) -> object:
        context = visitors(browser, there.address)
        contexts.append(context)
        return context.__enter__()("", path, **how)

    yield opened_at  # type: ignore[misc]
    for context in reversed(contexts):
        context.__exit__(None, None, None)
