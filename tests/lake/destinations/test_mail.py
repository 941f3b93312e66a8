"""A file by mail, through a real mail server: everybody gets it once, or it is told who may have got it twice."""

from __future__ import annotations

import smtplib
import socket
import ssl
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakehold.connectors.destinations.delivery import DeliveryProgress
from lakehold.connectors.destinations.file_formats import ExcelFormat
from lakehold.connectors.files.destination import FileDestination
from lakehold.connectors.mail.destination import MailDestination, deliver_mail
from lakehold.kit.errors import InvalidInputError, LakeholdError, UnavailableError
from lakehold.kit.mail import SmtpServer
from lakehold.lake.errors import DataError, DeliveryError
from tests.lake.destinations.receiver import ProgressRecord
from tests.smtp import MailServer, mail_server

MAIL = MailDestination(
    "Lakehold <hold@example.test>", ("ada@example.test", "bob@example.test"), "Grüße", "# Hello\n\nThe **orders**.\n"
)


@pytest.fixture
def taker() -> Iterator[MailServer]:
    with mail_server() as made:
        yield made


@pytest.fixture
def file(tmp_path: Path) -> FileDestination:
    return FileDestination(str(tmp_path), "orders")


def ids(taker: MailServer) -> list[tuple[str, str]]:
    """Who has got what, in order."""
    found = []
    while not taker.accepted.empty():
        mail = taker.next_mail()
        found.append((str(mail["To"]), str(mail["Message-ID"])))
    return found


def test_everybody_gets_the_file_once(spark: SparkSession, taker: MailServer, file: FileDestination) -> None:
    book, post = ProgressRecord(), SmtpServer.from_url(taker.url)
    done = deliver_mail(spark.range(3).coalesce(1), MAIL, file, post, "m", book)
    assert (done.rows, done.size, done.places, done.sure) == (3, 9, MAIL.receivers, True)
    first, second = taker.next_mail(), taker.next_mail()
    assert [str(mail["To"]) for mail in (first, second)] == list(MAIL.receivers)
    assert (first["Subject"], first["From"]) == ("Grüße", "Lakehold <hold@example.test>")
    assert first["Message-ID"] != second["Message-ID"]
    plain, page = first.get_body(("plain",)), first.get_body(("html",))
    assert plain is not None
    assert page is not None
    assert plain.get_content().splitlines() == MAIL.body.splitlines()
    assert "<p>The <strong>orders</strong>.</p>" in page.get_content()
    (attached,) = first.iter_attachments()
    assert (attached.get_filename(), attached.get_content_type()) == ("orders.csv", "text/csv")
    assert attached.get_content().splitlines() == ["id", "0", "1", "2"]
    assert deliver_mail(spark.range(9), MAIL, file, post, "m", book) == replace(done, again=True)
    assert taker.accepted.empty()
    deliver_mail(spark.range(3), MAIL, replace(file, format=ExcelFormat()), post, "m2", ProgressRecord())
    (book_file,) = taker.next_mail().iter_attachments()
    assert book_file.get_filename() == "orders.xlsx"
    assert book_file.get_content().startswith(b"PK")


def test_after_trouble_it_goes_on_with_who_has_not_got_it(
    spark: SparkSession, taker: MailServer, file: FileDestination
) -> None:
    post, book = SmtpServer.from_url(taker.url), ProgressRecord()
    taker.refusals_left = 1
    with pytest.raises(DeliveryError, match=r"did not accept the mail to receiver 1: 451 not now"):
        deliver_mail(spark.range(3), MAIL, file, post, "m1", book)
    assert deliver_mail(spark.range(3), MAIL, file, post, "m1", book).sure
    first = ids(taker)
    assert [receiver for receiver, _ in first] == list(MAIL.receivers)
    # It died when ada had got it: bob's mail may have left, and has the same id whenever it is sent.
    done = deliver_mail(spark.range(3), MAIL, file, post, "m1", ProgressRecord(DeliveryProgress(1, 3, 9)))
    assert ids(taker) == first[1:]
    assert not done.sure
    assert done.words == "Receiver 2 may have received it twice, both times with the same Message-ID."
    # Who is unknown keeps nobody else from getting theirs, and nobody gets it again.
    taker.unknown_recipients = {"ada@example.test"}
    unknown = ProgressRecord()
    for _ in range(2):
        with pytest.raises(DeliveryError, match=r"1 of 2 receivers .*not: receiver 1 \(550 no such person\)"):
            deliver_mail(spark.range(3), MAIL, file, post, "m2", unknown)
    assert [receiver for receiver, _ in ids(taker)] == ["bob@example.test"]


def test_what_cannot_be_sent_is_told(spark: SparkSession, taker: MailServer, file: FileDestination) -> None:
    post = SmtpServer.from_url(taker.url)
    with pytest.raises(DataError, match=r"orders.csv has 3,893 bytes; a mail may have 1,000"):
        deliver_mail(spark.range(1000).coalesce(1), replace(MAIL, max_bytes=1000), file, post, "m1", ProgressRecord())
    with pytest.raises(UnavailableError, match=r"mail server cannot be reached; receiver 1 has not received"):
        deliver_mail(spark.range(1), MAIL, file, SmtpServer.from_url("smtp://127.0.0.1:1"), "m2", ProgressRecord())
    assert taker.accepted.empty()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (smtplib.SMTPNotSupportedError("mail.corp.test does not offer STARTTLS."), "… does not offer STARTTLS"),
        (smtplib.SMTPAuthenticationError(535, b"ann:hunter2 is unknown"), "rejected the user name and password"),
        (smtplib.SMTPDataError(554, b"10.0.0.9 mail.corp.test: hunter2 for ada@example.test"), "554 … …: … for …"),
        (smtplib.SMTPRecipientsRefused({"ada@example.test": (450, b"<ada@example.test> later")}), "450 <…> later"),
        (ssl.SSLCertVerificationError("mail.corp.test has no certificate"), "certificate is not trusted"),
        (ConnectionRefusedError(111, "mail.corp.test"), "cannot be reached"),
        (socket.gaierror(-2, "mail.corp.test"), "cannot be reached"),
    ],
)
def test_what_goes_wrong_tells_nothing_of_the_server_and_the_receivers(
    spark: SparkSession, file: FileDestination, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def send(*_: object) -> None:
        raise error

    monkeypatch.setattr(SmtpServer, "send", send)
    post = SmtpServer("smtp", "mail.corp.test", 25, "ann", "hunter2")
    with pytest.raises(LakeholdError) as raised:
        deliver_mail(spark.range(1), MAIL, file, post, "m", ProgressRecord())
    assert said in str(raised.value)
    assert not any(word in str(raised.value) for word in ("mail.corp", "hunter2", "ada@", "10.0.0.9"))


@pytest.mark.parametrize(
    ("mail", "said"),
    [
        (replace(MAIL, receivers=()), "needs a receiver"),
        (replace(MAIL, receivers=("ada",)), "not an e-mail address"),
        (replace(MAIL, receivers=("a@x.test\r\nBcc: e@x.test",)), "control character"),
        (replace(MAIL, subject="a\nBcc: e@x.test"), "control character"),
        (replace(MAIL, subject=""), "must not be empty"),
    ],
)
def test_a_mail_that_is_none_is_refused(mail: MailDestination, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        mail.check()
