"""Delivers a file by mail: one mail for each receiver.

A mail cannot be taken back, and its server does not tell whether it has it already. So each receiver is recorded at
once, and a mail that was on its way when the process died is sent again: it has the same Message-ID, by which mail
programs tell duplicates.
"""

import smtplib
import ssl
from dataclasses import dataclass, replace
from email.message import EmailMessage
from pathlib import Path

from pyspark.sql import DataFrame

from lakehold.connectors.destinations import delivery
from lakehold.connectors.destinations.delivery import DeliveryProgress, DeliveryRequest, DeliveryResult, Destination
from lakehold.connectors.error_translation import shorten, translate_delivery_errors
from lakehold.connectors.files import destination as files
from lakehold.connectors.files.destination import FileDestination, open_file
from lakehold.connectors.mail.connector import MailSettings
from lakehold.connectors.registry import ConnectorEnvironment
from lakehold.directory.accounts import valid_email
from lakehold.kit.errors import InvalidInputError, LakeholdError, UnavailableError, at_field
from lakehold.kit.ids import valid_name
from lakehold.kit.mail import SmtpServer, build_message
from lakehold.lake.errors import DataError, DeliveryError
from lakehold.lake.markdown import as_html

_CONTENT_TYPES = {
    "csv": ("text", "csv"),
    "jsonl": ("application", "jsonl"),
    "parquet": ("application", "vnd.apache.parquet"),
    "xlsx": ("application", "vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
}
_RESUME_HINT = "Run it again: it continues with this receiver."


@dataclass(frozen=True, slots=True)
class MailDestination:
    """Receivers and text of a mail."""

    sender: str
    receivers: tuple[str, ...]
    subject: str
    body: str
    """Markdown: it is sent as it is, and as HTML."""
    html: str = ""
    """The same, where it has been made already."""
    max_bytes: int = 10_000_000
    """How many bytes the file may have."""

    def check(self) -> None:
        """Refuse a mail that cannot be sent."""
        if not self.receivers:
            raise InvalidInputError("A mail needs a receiver.", "Name at least one.", field="receivers")
        for n, receiver in enumerate(self.receivers):
            with at_field(f"receivers.{n}"):
                valid_email(receiver)
        with at_field("subject"):
            valid_name(self.subject, "subject")


def deliver_mail(  # noqa: PLR0917 - the parts of a mail
    rows: DataFrame,
    how: MailDestination,
    file: FileDestination,
    post: SmtpServer,
    mark: str,
    progress: delivery.ProgressStore,
) -> DeliveryResult:
    """Write the rows to a file and send it to each receiver once."""
    how.check()
    many = len(how.receivers)
    label = "one receiver, by mail" if many == 1 else f"{many:,} receivers, by mail"
    before = progress.read()
    if before is not None and before.ended:
        return before.to_result(how.receivers, label, again=True)
    written = files.deliver_files(rows, file, mark)
    content = _read_attachment(file, written.size, how.max_bytes)
    reached = replace(before or DeliveryProgress(0, written.rows, written.size), paused=False)
    # Who finds this after a crash knows that a mail may have left.
    progress.keep(reached)
    doubt = before is not None and not before.paused
    for receiver in how.receivers[reached.parts :]:
        try:
            reached = _send_mail(post, _build_message(how, receiver, file, content, mark), reached, doubt=doubt)
        except DeliveryError:
            # The server has said that it does not have it.
            progress.keep(replace(reached, paused=not doubt))
            raise
        progress.keep(reached)
        doubt = False
    if reached.refused:
        refused = "; ".join(reached.refused)
        message = f"{many - len(reached.refused)} of {many} receivers got the mail; not: {refused}."
        raise DeliveryError(message, "Correct the receivers.", foreign=refused)
    reached = replace(reached, ended=True)
    progress.keep(reached)
    return reached.to_result(how.receivers, label)


def _read_attachment(file: FileDestination, size: int, most: int) -> bytes:
    if size > most:
        message = f"The file {file.file_name} has {size:,} bytes; a mail may have {most:,}."
        raise DataError(message, "Choose fewer rows or fields, or deliver it into a folder.")
    with translate_delivery_errors(f"The file {file.file_name}"):
        return Path(file.folder, file.file_name).read_bytes()


def _build_message(
    how: MailDestination, receiver: str, file: FileDestination, content: bytes, mark: str
) -> EmailMessage:
    uid = f"delivery-{delivery.mark_digest(mark, receiver)}"
    mail = build_message(how.sender, receiver, how.subject, how.body, uid=uid)
    mail["Auto-Submitted"] = "auto-generated"
    mail.add_alternative(how.html or as_html(how.body), subtype="html")
    main, sub = _CONTENT_TYPES[file.format.ending]
    mail.add_attachment(content, maintype=main, subtype=sub, filename=file.file_name)
    return mail


def _send_mail(post: SmtpServer, mail: EmailMessage, before: DeliveryProgress, *, doubt: bool) -> DeliveryProgress:
    """Send one mail. A permanent refusal is recorded, so that the other receivers get theirs.

    Receivers are named by their position: members who see a run need not know their addresses.
    """
    after = replace(before, parts=before.parts + 1)
    who, hidden = f"receiver {after.parts}", (str(mail["To"]), post.password, post.user, post.host)
    try:
        post.send(mail)
    except smtplib.SMTPRecipientsRefused as error:
        code, reply = next(iter(error.recipients.values()))
        if code < 500:  # noqa: PLR2004 - what SMTP calls for ever
            said = _smtp_message(code, reply, hidden)
            message = f"{who.capitalize()} has not received the mail: {said}."
            raise DeliveryError(message, _RESUME_HINT, foreign=said) from error
        return replace(after, refused=(*before.refused, f"{who} ({_smtp_message(code, reply, hidden)})"))
    except (smtplib.SMTPException, OSError) as error:
        raise _translate_error(error, who, hidden) from error
    if not doubt:
        return after
    twice = f"{who.capitalize()} may have received it twice, both times with the same Message-ID."
    return replace(after, sure=False, words=" ".join(filter(None, (before.words, twice))))


def _translate_error(error: smtplib.SMTPException | OSError, who: str, hidden: tuple[str, ...]) -> LakeholdError:
    if isinstance(error, smtplib.SMTPAuthenticationError):
        hint = "Correct user name and password. " + _RESUME_HINT
        return DeliveryError("The mail server rejected the user name and password.", hint)
    if isinstance(error, smtplib.SMTPResponseException):
        reply = _smtp_message(error.smtp_code, error.smtp_error, hidden)
        return DeliveryError(f"The mail server did not accept the mail to {who}: {reply}.", _RESUME_HINT, foreign=reply)
    if isinstance(error, smtplib.SMTPNotSupportedError):
        reply = shorten(str(error), *hidden).rstrip(".")
        return DeliveryError(f"The mail server did not accept the mail to {who}: {reply}.", _RESUME_HINT, foreign=reply)
    if isinstance(error, ssl.SSLError):
        words = f"The mail server's certificate is not trusted; {who} has not received the mail."
        return UnavailableError(words, f"Ask an admin to correct it. {_RESUME_HINT}")
    return UnavailableError(f"The mail server cannot be reached; {who} has not received the mail.", _RESUME_HINT)


def _smtp_message(code: int, reply: bytes | str, hidden: tuple[str, ...]) -> str:
    text = reply.decode("utf-8", "replace") if isinstance(reply, bytes) else reply
    return f"{code} {shorten(text, *hidden)}".rstrip(".")


def open_destination(
    environment: ConnectorEnvironment, settings: MailSettings, request: DeliveryRequest
) -> Destination:
    """Open the mail server for one mail."""
    message, platform = request.message, environment.settings
    text, html = (message.text, message.html) if message else (settings.body, "")
    receivers = tuple(each.strip() for each in settings.receivers)
    to = MailDestination(platform.mail_from, receivers, settings.subject, text, html)
    file = open_file(request.retained_folder, settings, request.table)

    def server() -> SmtpServer:
        address = platform.smtp.get_secret_value()
        if not address:
            raise UnavailableError("No mails can be sent.", "Set LAKEHOLD_SMTP.")
        return SmtpServer.from_url(address)

    def check() -> str:
        to.check()
        file.check()
        server()
        return "Mails can be sent. No mail was sent."

    return Destination(
        check, lambda rows: deliver_mail(rows, to, file, server(), request.mark, request.need_progress())
    )
