"""Mails leave the outbox through a real mail server, once each, also when a worker is killed half-way."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from lakehold.directory.platform import Platform
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.mail import SmtpServer, build_message
from lakehold.ledger import outbox
from lakehold.ledger.outbox import outbox_table
from lakehold.runs import notifications
from tests.platform import ADA
from tests.processes import Process
from tests.runs.workers import start_worker
from tests.smtp import MailServer, mail_server


@pytest.fixture
def post() -> Iterator[MailServer]:
    with mail_server() as made:
        yield made


def put(platform: Platform, receiver: str, subject: str = "Hello", body: str = "A link.") -> None:
    with platform.write(ADA) as ctx:
        outbox.enqueue(
            ctx.session.transaction,
            ctx.session.tenant,
            ctx.at,
            receiver=receiver,
            subject=subject,
            body=platform.keys.encrypt(body),
        )


def rows(platform: Platform) -> list[sa.Row[tuple[object, ...]]]:
    with platform.database.read() as transaction:
        return list(transaction.connection.execute(sa.select(outbox_table).order_by(outbox_table.c.id)))


def mailer(platform: Platform, post: MailServer) -> Process:
    return start_worker(platform, LAKEHOLD_SMTP=post.url, LAKEHOLD_MAIL_FROM="Lakehold <hold@example.test>")


def test_a_mail_is_sent_as_it_was_written_and_then_forgotten(platform: Platform, post: MailServer) -> None:
    with mailer(platform, post) as process:
        put(platform, "zoë@example.test".replace("ë", "e"), "Grüße", "Click\n.here\nund weiter…")
        mail = post.next_mail()
        assert process.stop() == 0
    assert (mail["To"], mail["Subject"], mail["From"]) == (
        "zoe@example.test",
        "Grüße",
        "Lakehold <hold@example.test>",
    )
    assert mail.get_content().splitlines() == ["Click", ".here", "und weiter…"]
    (row,) = rows(platform)
    assert row.sent_at is not None
    assert row.body == ""


@pytest.mark.flow
def test_two_workers_send_each_mail_once(platform: Platform, post: MailServer) -> None:
    for number in range(30):
        put(platform, f"m{number}@example.test")
    with mailer(platform, post) as one, mailer(platform, post) as two:
        sent = [str(post.next_mail()["To"]) for _ in range(30)]
        assert one.stop() == two.stop() == 0
    assert sorted(sent) == sorted(f"m{number}@example.test" for number in range(30))
    assert post.accepted.empty()
    assert all(row.sent_at and row.tries == 1 for row in rows(platform))


@pytest.mark.rare
def test_a_worker_that_is_killed_while_it_sends_is_followed_by_another(platform: Platform, post: MailServer) -> None:
    post.accepting.clear()
    put(platform, "ada@example.test")
    with mailer(platform, post) as first:
        assert post.arrived.get(timeout=60) == "<ADA@EXAMPLE.TEST>"
        assert first.stop(signal.SIGKILL) == -signal.SIGKILL
    with mailer(platform, post) as second:
        second.wait_for_line("takes over from")
        assert post.arrived.get(timeout=60) == "<ADA@EXAMPLE.TEST>"
        post.accepting.set()
        ids = {str(post.next_mail()["Message-ID"])}
        assert second.stop() == 0
    # What the first one had given, the server may have taken after all: by its id it is the same mail.
    while not post.accepted.empty():
        ids.add(str(post.next_mail()["Message-ID"]))
    assert len(ids) == 1
    assert rows(platform)[0].tries == 1


def test_a_worker_that_is_stopped_lets_a_mail_end(platform: Platform, post: MailServer) -> None:
    post.accepting.clear()
    put(platform, "ada@example.test")
    with mailer(platform, post) as process:
        post.arrived.get(timeout=60)
        process.send_signal(signal.SIGTERM)
        process.wait_for_line("stops")
        post.accepting.set()
        assert process.wait() == 0
    assert rows(platform)[0].sent_at is not None


def test_what_was_refused_is_tried_again_later(platform: Platform, post: MailServer) -> None:
    post.refusals_left = 1
    put(platform, "ada@example.test")
    settings = platform.settings.model_copy(update={"smtp": type(platform.settings.smtp)(post.url)})
    again = Platform(settings)
    try:
        problem = notifications.send(again, 1, 0)
        notifications.record_result(again, 1, 0, problem)
        (row,) = rows(platform)
        assert "451" in row.error
        assert (row.tries, row.sent_at) == (1, None)
        assert row.due_at > platform.clock()
        # The same step, begun once more after a crash, changes nothing.
        notifications.record_result(again, 1, 0, problem)
        assert rows(platform)[0].tries == 1
        assert notifications.send(again, 1, 1) == ""
        notifications.record_result(again, 1, 1, "")
    finally:
        again.close()
    assert rows(platform)[0].sent_at is not None
    assert post.next_mail()["To"] == "ada@example.test"


def test_a_subject_cannot_bring_headers_of_its_own(platform: Platform, post: MailServer) -> None:
    put(platform, "ada@example.test", "Hello\r\nBcc: eve@example.test")
    settings = platform.settings.model_copy(update={"smtp": type(platform.settings.smtp)(post.url)})
    again = Platform(settings)
    try:
        assert notifications.send(again, 1, 0)
    finally:
        again.close()
    assert post.accepted.empty()


@pytest.mark.parametrize("url", ["http://127.0.0.1", "smtp://", "smtp://x:99999", "mail.example.test", "smtp://[::1"])
def test_an_address_that_is_none_is_refused_in_words(url: str) -> None:
    with pytest.raises(InvalidInputError, match="mails go to"):
        SmtpServer.from_url(url)


def test_addresses_are_read_with_their_parts() -> None:
    assert SmtpServer.from_url("smtps://ada%40x:p%3Aq@mail.example.test") == SmtpServer(
        "smtps", "mail.example.test", 465, "ada@x", "p:q"
    )
    assert SmtpServer.from_url("smtp://mail.example.test:2525").port == 2525


def test_the_same_mail_has_the_same_id() -> None:
    assert build_message("a@x.test", "b@x.test", "s", "b", uid="u")["Message-ID"] == "<u@x.test>"
