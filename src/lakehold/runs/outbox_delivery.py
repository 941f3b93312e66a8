"""Delivery of one mail or webhook from the outbox."""

from __future__ import annotations

import logging

from lakehold.directory.platform import Platform
from lakehold.kit.errors import LakeholdError
from lakehold.kit.mail import SmtpServer, build_message
from lakehold.ledger import outbox
from lakehold.runs import notifications

_log = logging.getLogger("lakehold.runs")


def send(platform: Platform, number: int, tries: int) -> str:
    """Send the message; return the error, or an empty text."""
    with platform.database.read() as transaction:
        mail = outbox.unsent_message(transaction, number, tries)
    if mail is None:
        return ""
    try:
        body = platform.keys.decrypt(mail.body)
        if mail.kind == outbox.WEBHOOK:
            notifications.post_webhook(body, private=platform.settings.private_addresses)
            return ""
        # The key is the installation's own, so that two installations do not name two mails alike.
        uid = f"outbox-{number}-{platform.keys.seal(f'outbox {number}')[:16]}"
        made = build_message(platform.settings.mail_from, mail.receiver, mail.subject, body, uid=uid)
        SmtpServer.from_url(platform.settings.smtp.get_secret_value()).send(made)
    except (OSError, ValueError, LakeholdError) as error:
        _log.warning("%s %s was not sent: %s", mail.kind, number, type(error).__name__)
        return str(error) or type(error).__name__
    return ""


def record_result(platform: Platform, number: int, tries: int, problem: str) -> None:
    """Mark the message as sent, or schedule the next attempt."""
    with platform.database.write() as transaction:
        mail = outbox.unsent_message(transaction, number, tries)
        if mail is None:
            return
        if problem:
            outbox.mark_failed(transaction, mail, platform.clock(), problem)
        else:
            outbox.mark_sent(transaction, mail, platform.clock())
