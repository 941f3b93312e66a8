"""A file to people, by mail: one mail for each of them.

A mail cannot be taken back, and its server does not tell whether it has it already. So who has got it is written down
at once, and one that was on its way when the process died is sent again: it has the same Message-ID, by which mail
programs tell doubles.
"""

from __future__ import annotations

import smtplib
import ssl
from dataclasses import dataclass, replace
from email.message import EmailMessage

from pyspark.sql import DataFrame

from lakehold.directory.accounts import valid_email
from lakehold.kit.errors import InvalidInputError, LakeholdError, UnavailableError
from lakehold.kit.ids import valid_name
from lakehold.kit.mail import SmtpServer, build_message
from lakehold.pipeline.connectors.outward import files
from lakehold.pipeline.connectors.outward.delivered import Delivered, digest
from lakehold.pipeline.connectors.outward.files import Files
from lakehold.pipeline.connectors.outward.folder import Folder
from lakehold.pipeline.connectors.outward.progress import Progress, Reached
from lakehold.pipeline.connectors.outward.trouble import short, told
from lakehold.pipeline.errors import DataError, DeliveryError
from lakehold.pipeline.markdown import as_html

_TYPES = {
    "csv": ("text", "csv"),
    "jsonl": ("application", "jsonl"),
    "parquet": ("application", "vnd.apache.parquet"),
    "xlsx": ("application", "vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
}
_ON = "Run it again: it goes on with this receiver."


@dataclass(frozen=True, slots=True)
class Mail:
    """To whom it goes, and what it says."""

    sender: str
    receivers: tuple[str, ...]
    subject: str
    body: str
    """Markdown: it is sent as it is, and as HTML."""
    html: str = ""
    """The same, where it has been made already."""
    most: int = 10_000_000
    """How many bytes the file may have."""

    def check(self) -> None:
        """Refuse what cannot be sent."""
        if not self.receivers:
            raise InvalidInputError("A mail needs a receiver.", "Name at least one.")
        for receiver in self.receivers:
            valid_email(receiver)
        valid_name(self.subject, "subject")


def deliver(rows: DataFrame, how: Mail, file: Files, post: SmtpServer, mark: str, progress: Progress) -> Delivered:  # noqa: PLR0917 - the parts of a mail
    """Make a file of the rows, and send it to everybody once."""
    how.check()
    if file.parts:
        raise InvalidInputError("To a mail one file is attached.", "Let it be one file, not parts.")
    before = progress.read()
    if before is not None and before.ended:
        return _told(before, how, again=True)
    made = files.deliver(rows, file, mark)
    content = _content(file, made.size, how.most)
    reached = replace(before or Reached(0, made.rows, made.size), paused=False)
    # Who finds this after a crash knows that a mail may have left.
    progress.keep(reached)
    doubt = before is not None and not before.paused
    for receiver in how.receivers[reached.parts :]:
        try:
            reached = _sent(post, _message(how, receiver, file, content, mark), reached, doubt=doubt)
        except DeliveryError:
            # The server has said that it does not have it.
            progress.keep(replace(reached, paused=not doubt))
            raise
        progress.keep(reached)
        doubt = False
    if reached.refused:
        raise DeliveryError(
            f"{len(how.receivers) - len(reached.refused)} of {len(how.receivers)} receivers have got the mail; not: "
            f"{'; '.join(reached.refused)}.",
            "Correct the receivers.",
        )
    reached = replace(reached, ended=True)
    progress.keep(reached)
    return _told(reached, how)


def _content(file: Files, size: int, most: int) -> bytes:
    if size > most:
        raise DataError(
            f"The file {file.file} has {size:,} bytes; a mail may have {most:,}.",
            "Choose fewer rows or fields, or deliver it into a folder.",
        )
    with told(f"The file {file.file}"), Folder(file.folder).reading(file.file) as opened:
        return opened.read()


def _message(how: Mail, receiver: str, file: Files, content: bytes, mark: str) -> EmailMessage:
    uid = f"delivery-{digest(mark, receiver)}"
    made = build_message(how.sender, receiver, how.subject, how.body, uid=uid)
    made["Auto-Submitted"] = "auto-generated"
    made.add_alternative(how.html or as_html(how.body), subtype="html")
    main, sub = _TYPES[file.shape.ending]
    made.add_attachment(content, maintype=main, subtype=sub, filename=file.file)
    return made


def _sent(post: SmtpServer, made: EmailMessage, before: Reached, *, doubt: bool) -> Reached:
    """Send one mail. Who will never take it is noted, so that the others get theirs.

    Receivers are told by their place in the list: who sees a run need not know their addresses.
    """
    after = replace(before, parts=before.parts + 1)
    who, hidden = f"receiver {after.parts}", (str(made["To"]), post.password, post.user, post.host)
    try:
        post.send(made)
    except smtplib.SMTPRecipientsRefused as error:
        code, said = next(iter(error.recipients.values()))
        if code < 500:  # noqa: PLR2004 - what SMTP calls for ever
            raise DeliveryError(
                f"{who.capitalize()} has not got the mail: {_said(code, said, hidden)}.", _ON
            ) from error
        return replace(after, refused=(*before.refused, f"{who} ({_said(code, said, hidden)})"))
    except (smtplib.SMTPException, OSError) as error:
        raise _clear(error, who, hidden) from error
    if not doubt:
        return after
    twice = f"{who.capitalize()} may have got it twice; both times with the same Message-ID."
    return replace(after, sure=False, words=" ".join(filter(None, (before.words, twice))))


def _clear(error: smtplib.SMTPException | OSError, who: str, hidden: tuple[str, ...]) -> LakeholdError:
    if isinstance(error, smtplib.SMTPAuthenticationError):
        hint = "Correct user name and password. " + _ON
        return DeliveryError("The mail server does not know the user name and password.", hint)
    if isinstance(error, smtplib.SMTPResponseException):
        said = _said(error.smtp_code, error.smtp_error, hidden)
        return DeliveryError(f"The mail server did not take the mail to {who}: {said}.", _ON)
    if isinstance(error, smtplib.SMTPNotSupportedError):
        said = short(str(error), *hidden).rstrip(".")
        return DeliveryError(f"The mail server did not take the mail to {who}: {said}.", _ON)
    if isinstance(error, ssl.SSLError):
        words = f"The mail server's certificate is not one that we trust; {who} has not got the mail."
        return UnavailableError(words, f"Whoever keeps the installation can correct it. {_ON}")
    return UnavailableError(f"The mail server cannot be reached; {who} has not got the mail.", _ON)


def _said(code: int, said: bytes | str, hidden: tuple[str, ...]) -> str:
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    return f"{code} {short(text, *hidden)}".rstrip(".")


def _told(reached: Reached, how: Mail, *, again: bool = False) -> Delivered:
    many = len(how.receivers)
    said = "one receiver, by mail" if many == 1 else f"{many:,} receivers, by mail"
    return Delivered(reached.rows, reached.size, how.receivers, reached.sure, again, reached.words, said)
