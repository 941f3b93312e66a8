"""Sites to sign in to: an empty one, one that sends mails, one with two tenants."""

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
from lakehold.runs import notifications
from tests.smtp import MailServer, mail_server
from tests.web.conftest import Open
from tests.web.demo import Shop, open_demo
from tests.web.visitors import visitors


@dataclass(frozen=True, slots=True)
class EmptySite(Shop):
    """A platform without a tenant."""

    @property
    def path(self) -> str:
        """What `lakehold up` prints."""
        return f"/first-run/{tenants.setup_secret(self.platform)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MailSite(Shop):
    """The demo company with a real mail server."""

    sink: MailServer

    def next_link(self) -> str:
        """The path of the link in the next mail."""
        found = re.search(r"https?://\S+?(/\S+)", self.next_mail())
        assert found
        return found[1]

    def next_mail(self) -> str:
        """What the next mail says. It is sent as a worker sends it."""
        (mail,) = self.waiting()
        assert notifications.send(self.platform, mail.id, mail.tries) == ""
        notifications.record_result(self.platform, mail.id, mail.tries, "")
        return str(self.sink.next_mail().get_content())

    def waiting(self) -> list[outbox.OutboxMessage]:
        """Mails that have not been sent yet."""
        with self.platform.database.read() as transaction:
            return outbox.due_messages(transaction, self.platform.clock())


@pytest.fixture
def empty_platform(template_file: Path, tmp_path: Path) -> Iterator[EmptySite]:
    start = tmp_path / "start"
    start.mkdir()
    shutil.copy(template_file, start / "lakehold.sqlite")
    with open_demo(start, tmp_path / "empty") as found:
        yield EmptySite(found.platform, found.address, found.clients)


@pytest.fixture
def mail_site(shop_folder: Path, tmp_path: Path) -> Iterator[MailSite]:
    with mail_server() as post, open_demo(shop_folder, tmp_path / "data", smtp=post.url) as found:
        yield MailSite(found.platform, found.address, found.clients, sink=post)


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Return a function that opens a page as a visitor: `open_page(empty_platform, "/sign-in")`."""
    contexts = []

    def opened_at(there: Shop, path: str, *, member: str = "", **how: object) -> object:
        context = visitors(browser, there.address, there.cookie_of)
        contexts.append(context)
        return context.__enter__()(member, path, **how)

    yield opened_at  # type: ignore[misc]
    for context in reversed(contexts):
        context.__exit__(None, None, None)
